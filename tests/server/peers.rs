//! What the kernel says of the other ends of connections.

use std::fs::read_to_string;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Waits until none of the clients, which are known by their ports, still counts as connected with the server: on a busy
/// machine the end of a connection takes its time even on loopback, and who sends meanwhile may well have been heard.
pub fn wait_until_told(clients: &[u16], server: u16, limit: Duration) {
    let end = Instant::now() + limit;
    let is_whole = |&(own, other): &(u16, u16)| other == server && clients.contains(&own);
    while established().iter().any(is_whole) && Instant::now() < end {
        // Nobody tells: there is only to look.
        sleep(Duration::from_millis(1));
    }
}

/// The ports of each connection that an end of it takes for whole, its own first: see proc_net_tcp.txt of Linux.
fn established() -> Vec<(u16, u16)> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| read_to_string(path).unwrap_or_default());
    tables.iter().flat_map(|table| table.lines()).filter_map(ports).collect()
}

fn ports(line: &str) -> Option<(u16, u16)> {
    const ESTABLISHED: &str = "01";
    let mut fields = line.split_whitespace().skip(1);
    let (own, other) = (port(fields.next()?)?, port(fields.next()?)?);
    (fields.next()? == ESTABLISHED).then_some((own, other))
}

fn port(address: &str) -> Option<u16> {
    u16::from_str_radix(address.rsplit_once(':')?.1, 16).ok()
}
