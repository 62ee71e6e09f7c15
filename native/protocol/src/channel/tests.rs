use super::*;

#[test]
fn answers_and_orders_arrive_as_they_were_sent() {
    let start = Start { pid: 1, cradle: 2, at: 3, share: 4 };
    let exit = Exit {
        start,
        status: Status::Signaled(9),
        user: 1,
        system: 2,
        peak: 3,
        at: 4,
        empty: true,
        directory: b"/".to_vec(),
    };
    let known = Member { pid: 7, group: 8, command: Some(b"sleep 1".to_vec()) };
    let unknown = Member { pid: 9, group: 0, command: None };
    let answers = [
        Answer::Started(start),
        Answer::Failed { step: Step::Exec, errno: 2 },
        Answer::Unwanted,
        Answer::Unfit { errno: 24, why: "has no descriptors".to_owned() },
        Answer::Exit(exit),
        Answer::Exit(Exit::default()),
        Answer::Empty,
        Answer::Reason("stopped pid=7".to_owned()),
        Answer::Signalled(true),
        Answer::Left { members: vec![known, unknown], more: true },
        Answer::Over { forced: true, cleared: false },
    ];
    for answer in answers {
        assert_eq!(Answer::decode(&answer.encode()), Some(answer));
    }
    for order in [Order::Signal(15), Order::End(u64::MAX), Order::EndLate(5), Order::Who] {
        assert_eq!(Order::decode(&order.encode()), Some(order));
    }
    assert_eq!(Answer::decode(b""), None);
}
