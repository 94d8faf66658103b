//! The declarations of options. They are declarative macros: they write the code that a person would write
//! by hand.

/// Declares the options of a method: the struct, its `Default`, and its parameters.
///
/// ```
/// fewest_core::options! {
///     /// What it is.
///     #[derive(Debug, Clone, Copy, PartialEq)]
///     pub struct Example {
///         /// Duality gap to reach, relative to the objective at zero.
///         ///
///         /// The first paragraph is the meaning that command line and tables show; more may follow.
///         pub tolerance: f64 = 1e-9, Positive;
///         /// Folds of the cross-validation; left out, none.
///         pub folds: Option<usize> = None, Count(2);
///         /// Constraints after which to stop.
///         pub most_constraints: usize = 200, hidden;
///     }
/// }
/// ```
///
/// A field is `pub name: type = default, …;`. Its name is the name of the parameter, its type a
/// [`ParameterType`](crate::method::ParameterType), a [`choice!`](crate::choice), or other options, whose
/// parameters are added. The default may be followed by
///
/// - a range narrower than that of the type: a variant of [`Range`](crate::method::Range) such as `Positive`
///   or `Between(2, 65536)`;
/// - `decides_count`: if given, it decides the number of features;
/// - `needs(other)`: it is used only if the parameter `other` is given;
/// - `offers(Value, Ratio)`: the supported forms of a [`Regularization`](crate::method::Regularization);
/// - `hidden`, alone: for programs in Rust only, no parameter.
#[macro_export]
macro_rules! options {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                pub $field:ident : $type:ty = $default:expr $(, $spec:ident $(($($arg:tt)*))?)* ;
            )*
        }
    ) => {
        $(#[$meta])*
        pub struct $name {
            $(
                $(#[doc = $doc])*
                #[doc = ""]
                #[doc = concat!(
                    "Default: `", stringify!($default), "`"
                    $(, $crate::__spec_words!($spec $(($($arg)*))?))*, "."
                )]
                pub $field: $type,
            )*
        }

        impl ::core::default::Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $crate::method::Options for $name {
            fn parameters(&self) -> ::std::vec::Vec<$crate::method::Parameter> {
                let mut list = ::std::vec::Vec::new();
                $($crate::__field!(list list, &self.$field, $field [$($doc)*] $($spec $(($($arg)*))?),*);)*
                list
            }

            fn set(
                &mut self,
                parameters: &$crate::method::Parameters,
            ) -> ::core::result::Result<(), $crate::Error> {
                $($crate::__field!(set parameters, &mut self.$field, $field [$($doc)*] $($spec $(($($arg)*))?),*);)*
                Ok(())
            }

            fn check(&self) -> ::core::result::Result<(), $crate::Error> {
                $($crate::__field!(check (), &self.$field, $field [$($doc)*] $($spec $(($($arg)*))?),*);)*
                Ok(())
            }
        }

        impl $crate::method::Field for $name {
            fn field_parameters(
                &self,
                _field: &$crate::method::FieldInfo,
            ) -> ::std::vec::Vec<$crate::method::Parameter> {
                $crate::method::Options::parameters(self)
            }

            fn set_field(
                &mut self,
                _field: &$crate::method::FieldInfo,
                parameters: &$crate::method::Parameters,
            ) -> ::core::result::Result<(), $crate::Error> {
                $crate::method::Options::set(self, parameters)
            }

            fn check_field(
                &self,
                _field: &$crate::method::FieldInfo,
            ) -> ::core::result::Result<(), $crate::Error> {
                $crate::method::Options::check(self)
            }
        }
    };
}

/// Declares an enum of words: a parameter whose value is one of them.
///
/// ```
/// fewest_core::words! {
///     /// What is divided.
///     #[derive(Default)]
///     pub enum Form {
///         /// Relevance less redundancy.
///         #[default]
///         Difference = "difference",
///         /// Relevance divided by redundancy.
///         Quotient = "quotient",
///     }
/// }
///
/// assert_eq!("Quotient".parse(), Ok(Form::Quotient));
/// assert_eq!(Form::Difference.to_string(), "difference");
/// assert_eq!(Form::WORDS, ["difference", "quotient"]);
/// ```
///
/// `selects_groups` after a word says that with it the method selects groups of features together. The enum
/// is `Debug`, `Copy`, `Eq` and `Hash`.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $word:literal $($flag:ident)?),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// All variants.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// The words, in the same order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl ::core::str::FromStr for $name {
            type Err = $crate::Error;

            fn from_str(text: &str) -> ::core::result::Result<Self, Self::Err> {
                let found = Self::ALL.iter().find(|one| one.word().eq_ignore_ascii_case(text));
                found.copied().ok_or_else(|| {
                    $crate::Error::parameter(stringify!($name), text, Self::WORDS.join("|"))
                })
            }
        }

        impl $crate::method::ParameterType for $name {
            fn range() -> $crate::method::Range {
                $crate::method::Range::OneOf(Self::WORDS)
            }

            fn to_value(&self) -> ::core::option::Option<$crate::method::Value> {
                Some($crate::method::Value::Word(self.word()))
            }

            fn from_value(
                value: ::core::option::Option<&$crate::method::Value>,
            ) -> ::core::option::Option<Self> {
                match value {
                    Some($crate::method::Value::Word(word)) => {
                        Self::ALL.iter().find(|one| one.word() == *word).copied()
                    }
                    _ => None,
                }
            }

            fn group_word() -> ::core::option::Option<&'static str> {
                $crate::__group_word!($($word $($flag)?),+)
            }
        }
    };
}

/// Declares an enum whose variants are words. Each variant has its own parameters, which are used with that
/// word only.
///
/// ```
/// use fewest_core::method::{Options, Parameters};
///
/// fewest_core::choice! {
///     /// A kernel.
///     #[derive(Debug, Clone, Copy, PartialEq)]
///     pub enum Kernel {
///         /// `⟨x, z⟩`.
///         Linear = "linear",
///         /// `exp(−‖x − z‖² / 2σ²)`.
///         Gaussian {
///             /// Width of the Gaussian kernel.
///             sigma: f64 = 1.0, Positive;
///         } = "gaussian",
///     }
/// }
///
/// fewest_core::options! {
///     /// A method.
///     #[derive(Debug, PartialEq)]
///     pub struct Machine {
///         /// Kernel of the machine.
///         pub kernel: Kernel = Kernel::Linear;
///     }
/// }
///
/// let takes = Machine::default().parameters();
/// assert_eq!((takes[1].name, takes[1].condition().as_deref()), ("sigma", Some("kernel=gaussian")));
/// let machine = |assignments: &[&str]| {
///     Machine::from_parameters(&Parameters::new("machine", takes.clone()).assigned(assignments)?)
/// };
/// assert_eq!(machine(&["kernel=gaussian", "sigma=2"])?, Machine { kernel: Kernel::Gaussian { sigma: 2.0 } });
/// let error = machine(&["sigma=2"]).unwrap_err();
/// assert_eq!(error.to_string(), "parameter `sigma` is 2, but must be left out: it has a meaning only where kernel=gaussian");
/// # Ok::<(), fewest_core::Error>(())
/// ```
///
/// The first variant is the default. A variant has fields as in [`options!`](crate::options), or one group of
/// options, `Discrete(Discretisation) = "discrete"`, or nothing. Variants may share a parameter; it is
/// then declared once, by the first of them. `selects_groups` after a word is as in
/// [`words!`](crate::words). After the last word and a `;`, variants for programs in Rust only may
/// follow: `; Given(Matrix)`.
#[macro_export]
macro_rules! choice {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(
                $(#[$variant_meta:meta])*
                $variant:ident $(($group:ty))? $({
                    $(
                        $(#[doc = $doc:literal])*
                        $field:ident : $type:ty = $default:expr $(, $spec:ident $(($($arg:tt)*))?)* ;
                    )*
                })? = $word:literal $($flag:ident)?
            ),+ $(,)?
            $(;
                $($(#[$hidden_meta:meta])* $hidden:ident($(#[$inner_meta:meta])* $inner:ty)),+ $(,)?
            )?
        }
    ) => {
        $(#[$meta])*
        pub enum $name {
            $(
                $(#[$variant_meta])*
                $variant $((#[doc = "Their options."] $group))? $({
                    $(
                        $(#[doc = $doc])*
                        #[doc = ""]
                        #[doc = concat!(
                            "Default: `", stringify!($default), "`"
                            $(, $crate::__spec_words!($spec $(($($arg)*))?))*, "."
                        )]
                        $field: $type,
                    )*
                })?,
            )+
            $($($(#[$hidden_meta])* $hidden($(#[$inner_meta])* $inner),)+)?
        }

        impl ::core::default::Default for $name {
            fn default() -> Self {
                $crate::__first!($({
                    Self::$variant {
                        $(0: <$group as ::core::default::Default>::default(),)?
                        $($($field: $default,)*)?
                    }
                })+)
            }
        }

        impl $crate::method::Choice for $name {
            const WORDS: &'static [&'static str] = &[$($word),+];
            const GROUP_WORD: ::core::option::Option<&'static str> =
                $crate::__group_word!($($word $($flag)?),+);

            fn alternatives() -> ::std::vec::Vec<Self> {
                vec![$(
                    Self::$variant {
                        $(0: <$group as ::core::default::Default>::default(),)?
                        $($($field: $default,)*)?
                    }
                ),+]
            }

            fn word(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $word,)+
                    $($(Self::$hidden(..) => stringify!($hidden),)+)?
                }
            }

            #[allow(unused_mut, unused_variables)]
            fn own_parameters(&self) -> ::std::vec::Vec<$crate::method::Parameter> {
                let mut list = ::std::vec::Vec::new();
                match self {
                    $(Self::$variant { $(0: $crate::__binding!(group, $group),)? $($($field,)*)? } => {
                        $(list.extend(<$group as $crate::method::Options>::parameters(group));)?
                        $($($crate::__field!(list list, $field, $field [$($doc)*] $($spec $(($($arg)*))?),*);)*)?
                    })+
                    $($(Self::$hidden(..) => {})+)?
                }
                list
            }

            #[allow(unused_variables)]
            fn set_own(
                &mut self,
                parameters: &$crate::method::Parameters,
            ) -> ::core::result::Result<(), $crate::Error> {
                match self {
                    $(Self::$variant { $(0: $crate::__binding!(group, $group),)? $($($field,)*)? } => {
                        $(<$group as $crate::method::Options>::set(group, parameters)?;)?
                        $($($crate::__field!(
                            set parameters, $field, $field [$($doc)*] $($spec $(($($arg)*))?),*
                        );)*)?
                    })+
                    $($(Self::$hidden(..) => {})+)?
                }
                Ok(())
            }

            #[allow(unused_variables)]
            fn check_own(&self) -> ::core::result::Result<(), $crate::Error> {
                match self {
                    $(Self::$variant { $(0: $crate::__binding!(group, $group),)? $($($field,)*)? } => {
                        $(<$group as $crate::method::Options>::check(group)?;)?
                        $($($crate::__field!(check (), $field, $field [$($doc)*] $($spec $(($($arg)*))?),*);)*)?
                    })+
                    $($(Self::$hidden(..) => {})+)?
                }
                Ok(())
            }
        }

        impl $crate::method::Field for $name {
            fn field_parameters(
                &self,
                field: &$crate::method::FieldInfo,
            ) -> ::std::vec::Vec<$crate::method::Parameter> {
                $crate::method::choice_parameters(self, field)
            }

            fn set_field(
                &mut self,
                field: &$crate::method::FieldInfo,
                parameters: &$crate::method::Parameters,
            ) -> ::core::result::Result<(), $crate::Error> {
                $crate::method::set_choice(self, field, parameters)
            }

            fn check_field(
                &self,
                _field: &$crate::method::FieldInfo,
            ) -> ::core::result::Result<(), $crate::Error> {
                $crate::method::Choice::check_own(self)
            }
        }
    };
}

/// One field: its parameters into a list, its value from parameters, or its check.
#[doc(hidden)]
#[macro_export]
macro_rules! __field {
    ($action:ident $with:tt, $value:expr, $field:ident [$($doc:literal)*] hidden) => {};
    (list $list:ident, $value:expr, $field:ident [$($doc:literal)*] $($specs:tt)*) => {
        $list.extend($crate::method::Field::field_parameters(
            $value,
            &$crate::__field_info!($field [$($doc)*] $($specs)*),
        ))
    };
    (set $parameters:ident, $value:expr, $field:ident [$($doc:literal)*] $($specs:tt)*) => {
        $crate::method::Field::set_field($value, &$crate::__field_info!($field [$($doc)*] $($specs)*), $parameters)?
    };
    (check (), $value:expr, $field:ident [$($doc:literal)*] $($specs:tt)*) => {
        $crate::method::Field::check_field($value, &$crate::__field_info!($field [$($doc)*] $($specs)*))?
    };
}

/// The declaration of a field as a value.
#[doc(hidden)]
#[macro_export]
macro_rules! __field_info {
    ($field:ident [$($doc:literal)*] $($spec:ident $(($($arg:tt)*))?),*) => {{
        #[allow(unused_mut)]
        let mut info = $crate::method::FieldInfo::new(stringify!($field), concat!($($doc, "\n"),*));
        $($crate::__spec!(info $spec $(($($arg)*))?);)*
        info
    }};
}

/// The attributes after the default of a field, as part of its declaration.
#[doc(hidden)]
#[macro_export]
macro_rules! __spec {
    ($info:ident decides_count) => {
        $info.decides_count = true
    };
    ($info:ident needs($other:ident)) => {
        $info.needs = Some(stringify!($other))
    };
    ($info:ident offers($($offer:ident),+ $(,)?)) => {
        $info.offers = &[$($crate::method::Offer::$offer),+]
    };
    ($info:ident $range:ident $(($($arg:expr),+ $(,)?))?) => {
        $info.range = Some($crate::method::Range::$range $(($($arg),+))?)
    };
}

/// The attributes after the default of a field, in words.
#[doc(hidden)]
#[macro_export]
macro_rules! __spec_words {
    (hidden) => {
        ""
    };
    (decides_count) => {
        ". Where given, it decides the number of features"
    };
    (needs($other:ident)) => {
        concat!(", only where `", stringify!($other), "` is given")
    };
    (offers $args:tt) => {
        ""
    };
    (Count($least:expr)) => {
        concat!(", ", $crate::__range_words!(Count), stringify!($least))
    };
    (Between($least:expr, $most:expr)) => {
        concat!(", ", $crate::__range_words!(Between), stringify!($least), " to ", stringify!($most))
    };
    (PositiveBelow($most:expr)) => {
        concat!(", ", $crate::__range_words!(PositiveBelow), stringify!($most))
    };
    (PositiveOr($words:expr)) => {
        concat!(", ", $crate::__range_words!(Positive), ", or one of `", stringify!($words), "`")
    };
    (ShareOr($words:expr)) => {
        concat!(", ", $crate::__range_words!(Share), ", or one of `", stringify!($words), "`")
    };
    (OneOf($words:expr)) => {
        concat!(", one of `", stringify!($words), "`")
    };
    ($range:ident) => {
        concat!(", ", $crate::__range_words!($range))
    };
}

/// The first word that selects groups.
#[doc(hidden)]
#[macro_export]
macro_rules! __group_word {
    () => {
        None
    };
    ($word:literal selects_groups $(, $($rest:tt)*)?) => {
        Some($word)
    };
    ($word:literal $(, $($rest:tt)*)?) => {
        $crate::__group_word!($($($rest)*)?)
    };
}

/// The first of some expressions.
#[doc(hidden)]
#[macro_export]
macro_rules! __first {
    ($first:block $($rest:block)*) => {
        $first
    };
}

/// A name to bind a group to, once for each group.
#[doc(hidden)]
#[macro_export]
macro_rules! __binding {
    ($name:ident, $group:ty) => {
        $name
    };
}
