//! The addresses on which processes in the calling thread's network listen.

use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The most bytes of a table that are read; listening sockets come first.
const MOST_BYTES: u64 = 256 * 1024;

/// Reads all addresses. Without IPv6 there is no second table.
pub fn addresses() -> io::Result<Vec<SocketAddr>> {
    let mut all = table("tcp")?;
    all.extend(table("tcp6").unwrap_or_default());
    Ok(all)
}

fn table(name: &str) -> io::Result<Vec<SocketAddr>> {
    let mut text = String::new();
    let file = File::open(format!("/proc/thread-self/net/{name}"))?;
    file.take(MOST_BYTES).read_to_string(&mut text)?;
    Ok(text.lines().filter_map(entry).collect())
}

/// Parses a line: number, local address, remote address, state (`0A`: listening), ….
fn entry(line: &str) -> Option<SocketAddr> {
    let mut words = line.split_ascii_whitespace();
    let local = words.nth(1)?;
    let state = words.nth(1)?;
    let (address, port) = local.rsplit_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    if state != "0A" {
        return None;
    }
    Some(SocketAddr::new(ip(address)?, port))
}

/// Parses an address, of which the kernel writes each four bytes as a number in the machine's byte order.
fn ip(text: &str) -> Option<IpAddr> {
    let number = |at: usize| {
        let digits = text.get(at * 8..at * 8 + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    if text.len() == 8 {
        return Some(Ipv4Addr::from(number(0)?).into());
    }
    let mut bytes = [0; 16];
    for (at, part) in bytes.chunks_exact_mut(4).enumerate() {
        part.copy_from_slice(&number(at)?);
    }
    Some(Ipv6Addr::from(bytes).into())
}

/// Returns the address by which a listener on `address` is reached from the same machine.
pub fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        other => other,
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_in_the_order_of_the_machine() {
        let line =
            |address: &str| format!("   0: {address}:0BB8 00000000:0000 0A 0 0 0 1000 0 4711");
        let read = |address: &str| entry(&line(address)).map(|it| it.to_string());
        let [four, six] = match cfg!(target_endian = "little") {
            true => ["0100007F", "00000000000000000000000001000000"],
            false => ["7F000001", "00000000000000000000000000000001"],
        };
        assert_eq!(read(four), Some("127.0.0.1:3000".into()));
        assert_eq!(read(six), Some("[::1]:3000".into()));
        assert_eq!(entry(&line(four).replace(" 0A ", " 01 ")), None);
        assert_eq!(entry("  sl  local_address rem_address   st"), None);
    }

    #[test]
    fn a_listener_on_all_addresses_is_reached_by_the_loopback() {
        let at = |text: &str| reachable(text.parse().unwrap()).to_string();
        assert_eq!(
            [at("0.0.0.0:1"), at("[::]:2"), at("127.0.0.2:3")],
            ["127.0.0.1:1", "[::1]:2", "127.0.0.2:3"]
        );
    }
}
