use super::*;
use crate::sandbox::ports::plan::Wished;

fn listening(address: &str) -> Listening {
    let name = "node".into();
    Listening { address: address.parse().unwrap(), cradle: 1, pid: 2, name }
}

#[test]
fn well_known_ports_are_taken_only_where_they_are_named() {
    let auto = PortPlan { publishes_all: true, ..PortPlan::default() };
    assert_eq!(wanted(&auto, 3000).unwrap()[..2], [3000, 3001]);
    assert_eq!([wanted(&auto, 5432), wanted(&auto, 80)], [Some(vec![0]), Some(vec![0])]);
    // 5432 and 5433 are databases'.
    assert_eq!(wanted(&auto, 5431).unwrap()[..2], [5431, 5434]);
    let wish = Wished { inside: 5432, host: 5432 };
    let named = PortPlan { publish: vec![wish], ..PortPlan::default() };
    assert_eq!(wanted(&named, 5432).unwrap()[..2], [5432, 5434]);
    assert_eq!(wanted(&named, 3000), None);
    assert_eq!(wanted(&auto, 65535), Some(vec![65535, 0]));
}

#[test]
fn a_port_that_opens_again_at_once_has_the_same_number() {
    let published = Published::new(None);
    let plan = PortPlan { publishes_all: true, ..PortPlan::default() };
    let free = listen_on(0).unwrap().remove(0).local_addr().unwrap();
    let mut open = Vec::new();
    for turn in 0..50 {
        let relay = |opened: Opened| open.extend(opened.sockets);
        let result = published.publish(&plan, &listening(&free.to_string()), relay);
        let told = published.give_up(|| Ok(Vec::new()), |_| open.clear());
        let word = format!("port={0},{0},2,node,{turn}", free.port());
        assert!(matches!(result, Publishing::Open(tell) if tell.word == word));
        assert_eq!(told, [PortNotice { cradle: 1, word: format!("closed-{word}") }]);
    }
}

#[test]
fn what_gives_control_over_a_program_is_not_published() {
    let plan = PortPlan { publishes_all: true, ..PortPlan::default() };
    let published = Published::new(None);
    let result = published.publish(&plan, &listening("127.0.0.1:9229"), |_| {});
    let word = "port=9229,dangerous,2,node,0";
    assert!(matches!(result, Publishing::Refused(tell) if tell.word == word));
}

#[test]
fn a_port_that_is_refused_is_told_once_and_taken_back() {
    let plan = PortPlan { publishes_all: true, ..PortPlan::default() };
    let published = Published::new(None);
    let refused = |cradle: i32, pid: i32, port: u16| {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let listening = Listening { address, cradle, pid, name: "node".into() };
        match published.publish(&plan, &listening, |_| {}) {
            Publishing::Refused(tell) => Some(tell),
            _ => None,
        }
    };
    let first = refused(1, 2, 9229).unwrap();
    assert_eq!(refused(1, 2, 9229), Some(first.clone()));
    for pid in 3..300 {
        refused(1, pid, 9222);
    }
    // Another command hears of its own.
    let other = refused(4, 500, 9222).unwrap();
    assert!(published.contains(9222) && published.contains(9229) && !published.is_empty());
    let open = vec![SocketAddr::from(([127, 0, 0, 1], 9229))];
    let told = published.give_up(|| Ok(open), |_| {});
    let closed = |tell: PortNotice| PortNotice { word: format!("closed-{}", tell.word), ..tell };
    assert_eq!(told.len(), MOST_REFUSED - 1 + 1);
    assert!(told.contains(&closed(other)));
    assert!(published.contains(9229) && !published.contains(9222));
    assert_eq!(published.give_up(|| Ok(Vec::new()), |_| {}), [closed(first)]);
    assert!(published.is_empty());
}
