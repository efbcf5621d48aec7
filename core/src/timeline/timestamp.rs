//! Moments of the timeline.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The last millisecond of the year 9999, beyond which RFC 3339 has no notation.
const LATEST: u64 = 253_402_300_799_999;

/// A moment, to the millisecond, in UTC. It shows itself, and is written to JSON, as RFC 3339 does it:
/// `2026-12-02T01:02:03.004Z`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The moment that many milliseconds after 1970-01-01T00:00:00Z; what lies after the year 9999 is its end.
    pub fn from_unix_millis(millis: u64) -> Timestamp {
        Timestamp(millis.min(LATEST))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn unix_millis(self) -> u64 {
        self.0
    }

    /// What the wall clock shows.
    pub(crate) fn now() -> Timestamp {
        Timestamp::from(SystemTime::now())
    }
}

/// A moment before 1970 becomes 1970: it is a clock that was never set.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Timestamp {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_unix_millis(u64::try_from(since.as_millis()).unwrap_or(LATEST))
    }
}

impl From<Timestamp> for SystemTime {
    fn from(timestamp: Timestamp) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(timestamp.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_rfc3339_millis(SystemTime::from(*self)).fmt(f)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        humantime::parse_rfc3339(&text).map(Timestamp::from).map_err(de::Error::custom)
    }
}
