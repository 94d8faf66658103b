//! Damage, the same for the same seed.

/// What readers look for, or stumble over.
const WORDS: [&[u8]; 40] = [
    b",",
    b";",
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b"\"",
    b"\"\"",
    b"\0",
    b" ",
    b"nan",
    b"NA",
    b"inf",
    b"-inf",
    b"1e308",
    b"1e999",
    b"1e-999",
    b"-0",
    b"0",
    b"1",
    b"9007199254740993",
    b"18446744073709551615",
    b"18446744073709551616",
    b"100000000",
    b":",
    b"1:",
    b"#",
    b"qid:1",
    b"=",
    b"auto",
    b"median",
    b"last",
    b"\xEF\xBB\xBF",
    b"\xFF",
    b"\xC3",
    "\u{202e}".as_bytes(),
    b"{",
    b"]",
    b"\x1f\x8b",
    b"\xff\xff\xff\x7f",
];

/// A source of damage.
pub struct Damage {
    state: u64,
}

impl Damage {
    /// The damage of this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d }
    }

    /// A number below `n`, or 0.
    pub fn below(&mut self, n: usize) -> usize {
        // SplitMix64 (Steele, Lea and Flood 2014).
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        if n == 0 { 0 } else { ((z ^ (z >> 31)) % n as u64) as usize }
    }

    /// One to eight changes of `bytes`, some of them from `other`.
    pub fn change(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        for _ in 0..=self.below(8) {
            let at = self.below(bytes.len() + 1);
            let length = self.below(16.min(bytes.len() - at) + 1);
            match self.below(9) {
                0 | 1 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                2 if at < bytes.len() => bytes[at] = self.below(256) as u8,
                3 => drop(bytes.drain(at..at + length)),
                4 | 5 => drop(bytes.splice(at..at, WORDS[self.below(WORDS.len())].iter().copied())),
                6 => drop(bytes.splice(at..at + length, WORDS[self.below(WORDS.len())].iter().copied())),
                7 => {
                    let from = self.below(other.len() + 1);
                    let many = self.below(64.min(other.len() - from) + 1);
                    bytes.splice(at..at + length, other[from..from + many].iter().copied());
                }
                8 if self.below(4) == 0 => bytes.truncate(at),
                _ => {
                    let piece = bytes[at..at + length].to_vec();
                    bytes.splice(at..at, piece.repeat(1 + self.below(20)));
                }
            }
        }
        bytes.truncate(1 << 16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_does_the_same_damage() {
        let damaged = |seed| {
            let mut damage = Damage::new(seed);
            (0..50)
                .map(|_| {
                    let mut bytes = b"a,b\n1,2\n".to_vec();
                    damage.change(&mut bytes, b"+1 3:4\n");
                    bytes
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(damaged(1), damaged(1));
        assert_ne!(damaged(1), damaged(2));
        assert!(damaged(3).iter().filter(|bytes| **bytes != b"a,b\n1,2\n").count() > 40);
    }
}
