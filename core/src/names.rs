//! Enums whose values have one name in every language and in every file.

/// Declares an enum together with the names of its values, so that each name is written once.
macro_rules! named {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$value_meta:meta])* $value:ident = $text:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$value_meta])* $value,)+
        }

        impl $name {
            /// Every value.
            pub const ALL: &'static [$name] = &[$($name::$value),+];

            /// The value's name, as every language shows it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $text,)+
                }
            }

            /// The value of that name, if there is one.
            pub fn from_name(name: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|value| value.as_str() == name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                let name = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                $name::from_name(&name).ok_or_else(|| serde::de::Error::unknown_variant(&name, &[$($text),+]))
            }
        }
    };
}

pub(crate) use named;
