//! A secret that the command shares with the executors, by which each knows the other.

use sha2::{Digest, Sha256};

use crate::Error;

/// Bytes of a block of the hash function, and of its result.
const BLOCK: usize = 64;
const TAG: usize = 32;

/// Bytes that a secret has at least: fewer can be guessed.
const LEAST: usize = 16;

/// What the command and the executors share; or nothing.
#[derive(Clone, Default)]
pub struct Secret(Option<Vec<u8>>);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "a secret" } else { "no secret" })
    }
}

impl Secret {
    /// These bytes, without blanks at their ends: those of a file, for example.
    ///
    /// # Errors
    /// [`Error::ShortSecret`] for fewer than 16 bytes, which can be guessed.
    pub fn new(bytes: &[u8]) -> Result<Self, Error> {
        match bytes.trim_ascii() {
            short if short.len() < LEAST => Err(Error::ShortSecret { length: short.len(), least: LEAST }),
            secret => Ok(Self(Some(secret.to_vec()))),
        }
    }

    /// The message behind its tag, which also holds for `about`; zeros where there is no secret.
    pub(crate) fn sealed(&self, about: &[u8], message: Vec<u8>) -> Vec<u8> {
        [self.tag(about, &message).as_slice(), &message].concat()
    }

    /// The message, if its tag is of this secret; any, where there is none.
    pub(crate) fn opened<'a>(&self, about: &[u8], sealed: &'a [u8]) -> Option<&'a [u8]> {
        let (tag, message) = sealed.split_at_checked(TAG)?;
        // All bytes are compared, so that the time tells nothing of how many are equal.
        let differs = self.tag(about, message).iter().zip(tag).fold(0, |all, (a, b)| all | (a ^ b));
        (self.0.is_none() || differs == 0).then_some(message)
    }

    /// Whether there is one.
    pub(crate) fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// That of both, with the length of the first, so that no two pairs make the same bytes.
    fn tag(&self, about: &[u8], message: &[u8]) -> [u8; TAG] {
        let length = (about.len() as u64).to_le_bytes();
        self.0.as_ref().map_or([0; TAG], |secret| hmac(secret, &[&length, about, message]))
    }
}

/// HMAC-SHA-256 (RFC 2104) of the parts, one after the other.
fn hmac(secret: &[u8], parts: &[&[u8]]) -> [u8; TAG] {
    let mut key = [0; BLOCK];
    let hashed = hash(&[secret]);
    let short = if secret.len() > BLOCK { &hashed[..] } else { secret };
    key.iter_mut().zip(short).for_each(|(own, byte)| *own = *byte);
    let inner = key.map(|byte| byte ^ 0x36);
    let inner = hash(&[&[&inner[..]], parts].concat());
    hash(&[&key.map(|byte| byte ^ 0x5C), &inner])
}

/// SHA-256 of the parts, one after the other.
pub(crate) fn hash(parts: &[&[u8]]) -> [u8; TAG] {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &[u8]) -> Secret {
        Secret(Some(text.to_vec()))
    }

    #[test]
    fn what_is_sealed_is_opened_by_the_same_secret_only() {
        let own = secret(b"sixteen bytes or more");
        let sealed = own.sealed(b"rows 0 to 9", b"sums".to_vec());
        assert_eq!(own.opened(b"rows 0 to 9", &sealed), Some(&b"sums"[..]));
        assert_eq!(own.opened(b"rows 9 to 20", &sealed), None);
        assert_eq!(secret(b"sixteen bytes or mere").opened(b"rows 0 to 9", &sealed), None);
        assert_eq!(Secret::default().opened(b"", &sealed), Some(&b"sums"[..]));
        assert_eq!(own.opened(b"", &Secret::default().sealed(b"", b"sums".to_vec())), None);
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(own.opened(b"rows 0 to 9", &changed), None, "{at}");
        }
        assert_eq!(own.opened(b"", &sealed[..31]), None);
    }

    /// Cases 1, 2 and 6 of RFC 4231: a short key, a text, a key of more than a block.
    #[test]
    fn tags_are_those_of_the_standard() {
        let long: &[u8] = b"Test Using Larger Than Block-Size Key - Hash Key First";
        for (key, message, expected) in [
            (
                &[0x0B; 20][..],
                &b"Hi There"[..],
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (&[0xAA; 131], long, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        ] {
            for cut in [0, 5, message.len()] {
                let tag = hmac(key, &[&message[..cut], &message[cut..]]);
                let hexadecimal: String = tag.iter().map(|byte| format!("{byte:02x}")).collect();
                assert_eq!(hexadecimal, expected);
            }
        }
        // The tag of a message is that of what stands before it, with its length, and of itself.
        let own = secret(b"sixteen bytes or more");
        let parts = [&[3, 0, 0, 0, 0, 0, 0, 0][..], b"row", b"sums"];
        assert_eq!(own.sealed(b"row", b"sums".to_vec())[..TAG], hmac(b"sixteen bytes or more", &parts));
    }

    #[test]
    fn a_short_secret_is_refused() {
        assert!(matches!(Secret::new(b" fifteen letters\n"), Err(Error::ShortSecret { length: 15, .. })));
        assert!(Secret::new(b"sixteen letters!\n").is_ok());
        assert!(Secret::new(b"").is_err());
    }
}
