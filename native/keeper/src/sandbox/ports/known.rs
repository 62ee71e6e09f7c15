//! Ports that mean something to programs, by their numbers.

/// Whoever connects to such a port may control a program, a machine or all containers: debuggers, the
/// screens of browsers and desktops, Docker, Kubernetes. The same list is in src/sandbox/ports/dangerous.ts.
const CONTROLLING: [u16; 24] = [
    2345, 2375, 2376, 4243, 4444, 5005, 5037, 5555, 5678, 5858, 5900, 5901, 6000, 6001, 8265, 9222,
    9223, 9229, 9230, 9515, 10250, 10255, 16509, 27183,
];

/// Services to which programs send passwords and data without asking who answers.
const TRUSTED: [u16; 24] = [
    1433, 1521, 2049, 2181, 2379, 3128, 3306, 3389, 4222, 5432, 5433, 5672, 6379, 6380, 6443, 8125,
    8200, 8500, 9042, 9092, 9200, 11211, 27017, 27018,
];

/// Returns whether whoever connects to this port may control a program.
pub fn is_controlling(port: u16) -> bool {
    CONTROLLING.contains(&port)
}

/// Returns whether programs trust a server for having this port.
pub fn is_trusted(port: u16) -> bool {
    TRUSTED.contains(&port)
}
