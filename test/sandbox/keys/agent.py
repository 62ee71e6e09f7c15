"""An ssh agent's client that asks for all that it should not get: `agent.py WHAT`."""
import base64, os, signal, socket, struct, subprocess, sys, threading, time

PATH = os.environ['SSH_AUTH_SOCK']


def string(data):
    return struct.pack('>I', len(data)) + data


def connect():
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(20)
    one.connect(PATH)
    return one


def read(one):
    data = b''
    while len(data) < 4 or len(data) < 4 + struct.unpack('>I', data[:4])[0]:
        more = one.recv(65536)
        if not more:
            return b''
        data += more
    return data[4:]


def ask(message, one=None):
    """The answer; empty: the connection was closed."""
    try:
        one = one or connect()
        one.sendall(string(message))
        return read(one)
    except (BrokenPipeError, ConnectionResetError, ConnectionRefusedError):
        return b''


KEYS = ask(b'\x0b')
LENGTH = struct.unpack('>I', KEYS[5:9])[0]
KEY = KEYS[9:9 + LENGTH]
KIND = KEY[4:4 + struct.unpack('>I', KEY[:4])[0]]


def sshsig(namespace=b'git', hash=b'\x07' * 64, name=b'sha512', more=b''):
    return b'SSHSIG' + string(namespace) + string(b'') + string(name) + string(hash) + more


def login(service=b'ssh-connection', method=b'publickey', session=b's' * 32, key=None, more=b''):
    head = string(session) + b'\x32' + string(b'root') + string(service) + string(method)
    return head + b'\x01' + string(KIND) + string(KEY if key is None else key) + more


def sign(data, key=None, flags=0, more=b''):
    return b'\x0d' + string(KEY if key is None else key) + string(data) + struct.pack('>I', flags) + more


def bind(forwarding=0, signature=b'x'):
    parts = [b'session-bind@openssh.com', KEY, b's' * 32, string(KIND) + string(signature * 64)]
    return b'\x1b' + b''.join(map(string, parts)) + bytes([forwarding])


def is_signed(answer):
    return answer[:1] == b'\x0e'


def after(first, then):
    one = connect()
    ask(first, one)
    return ask(then, one)


def raw(data):
    one = connect()
    try:
        one.sendall(data)
        one.shutdown(socket.SHUT_WR)
        last = b''
        while True:
            answer = read(one)
            if not answer:
                return last
            last = answer if is_signed(answer) or not is_signed(last) else last
    except (BrokenPipeError, ConnectionResetError):
        return b''


def slowly(data):
    one = connect()
    try:
        for byte in data:
            one.sendall(bytes([byte]))
        return read(one)
    except (BrokenPipeError, ConnectionResetError):
        return b''


RAW = b'tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n'
REFUSED = {
    'adds a key': lambda: ask(b'\x11' + string(KIND) + string(b'x')),
    'adds a key for a time': lambda: ask(b'\x19' + string(KIND) + string(b'x')),
    'removes a key': lambda: ask(b'\x12' + string(KEY)),
    'removes all keys': lambda: ask(b'\x13'),
    'locks the agent': lambda: ask(b'\x16' + string(b'word')),
    'unlocks the agent': lambda: ask(b'\x17' + string(b'word')),
    'adds a smartcard': lambda: ask(b'\x14' + string(b'/tmp/x.so') + string(b'1')),
    'adds a smartcard for a time': lambda: ask(b'\x1a' + string(b'/tmp/x.so') + string(b'1')),
    'removes a smartcard': lambda: ask(b'\x15' + string(b'/tmp/x.so') + string(b'1')),
    'lists keys of version 1': lambda: ask(b'\x01'),
    'asks for an extension': lambda: ask(b'\x1b' + string(b'export@example.com')),
    'has text signed': lambda: ask(sign(RAW)),
    'has nothing signed': lambda: ask(sign(b'')),
    'has a file signed': lambda: ask(sign(sshsig(b'file'))),
    'has a message of no namespace signed': lambda: ask(sign(sshsig(b''))),
    'has a message with more after it signed': lambda: ask(sign(sshsig(more=b'x'))),
    'has a short hash signed': lambda: ask(sign(sshsig(hash=b'x'))),
    'has a hash of another kind signed': lambda: ask(sign(sshsig(hash=b'x' * 20, name=b'sha1'))),
    'logs in, unbound': lambda: ask(sign(login())),
    'logs in, bound by a false signature': lambda: after(bind(), sign(login())),
    'logs in, bound to another session': lambda: after(bind(), sign(login(session=b't' * 32))),
    'logs in for another machine': lambda: after(bind(1), sign(login())),
    'signs for another machine': lambda: after(bind(1), sign(sshsig())),
    'binds twice, and signs': lambda: after(bind(), bind()) + after(bind(1), sign(sshsig())),
    'logs in by host': lambda: ask(sign(login(method=b'hostbased'))),
    'asks for another service': lambda: ask(sign(login(service=b'ssh-userauth'))),
    'logs in with the key of others': lambda: ask(sign(login(key=b'other'))),
    'signs with a key that is not there': lambda: ask(sign(sshsig(), key=b'other')),
    'signs with unknown flags': lambda: ask(sign(sshsig(), flags=9)),
    'signs with more after it': lambda: ask(sign(sshsig(), more=b'\0')),
    'signs with less than announced': lambda: ask(sign(sshsig())[:-9]),
    'an empty message': lambda: raw(struct.pack('>I', 0)),
    'a message of 4 GiB': lambda: raw(b'\xff\xff\xff\xff' + sign(RAW)),
    'a message of 257 KiB': lambda: raw(string(sign(b'x' * 263168))),
    'a message byte by byte': lambda: slowly(string(sign(RAW))),
    'two messages at once': lambda: raw(string(b'\x0b') + string(sign(RAW))),
    'a message in a message': lambda: raw(string(string(sign(sshsig())))),
}


def forked(act):
    """What a process says whose parents have ended, which leads a session of its own."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while os.getppid() == 0:
                time.sleep(0.01)
            os.write(writing, act() or b'-')
        os._exit(0)
    os.wait()
    os.close(writing)
    return os.read(reading, 65536)


def renamed():
    open('/proc/self/comm', 'w').write('0123456789abcde')
    return ask(sign(sshsig(hash=b'n' * 64)))


def passed():
    """By a connection that another process has made."""
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        connection = connect()
        socket.send_fds(ours, [b'x'], [connection.fileno()])
        os._exit(0)
    _, [number], *_ = socket.recv_fds(theirs, 1, 1)
    os.wait()
    connection = socket.socket(fileno=number)
    connection.settimeout(20)
    return ask(sign(sshsig(hash=b'p' * 64)), connection)


def by_key_generator():
    open('/tmp/key.pub', 'w').write((KIND + b' ' + base64.b64encode(KEY)).decode())
    open('/tmp/message', 'w').write('x')
    subprocess.run(['ssh-keygen', '-Y', 'sign', '-n', 'git', '-f', '/tmp/key.pub', '/tmp/message'],
                   stdin=subprocess.DEVNULL, capture_output=True)
    return b'\x0e' if os.path.exists('/tmp/message.sig') else b''


SAME = connect()
AGAIN = {
    'by the same connection': lambda: ask(sign(sshsig(hash=b'a' * 64)), SAME),
    'the same once more': lambda: ask(sign(sshsig()), SAME),
    'by another connection': lambda: ask(sign(sshsig(hash=b'b' * 64))),
    'by a process without parents': lambda: forked(lambda: ask(sign(sshsig(hash=b'c' * 64)))),
    'by a process of another name': lambda: forked(renamed),
    'by a connection from another process': passed,
    'by ssh-keygen': by_key_generator,
}

what = sys.argv[1]
if what == 'refused':
    assert is_signed(ask(sign(sshsig()))), 'nothing is signed at all'
    for name, act in REFUSED.items():
        print(f'{name}:', 'SIGNED' if is_signed(act()) else 'refused', flush=True)
    assert ask(b'\x0b') == KEYS, 'other keys'
elif what == 'again':
    assert is_signed(ask(sign(sshsig()), SAME)), 'nothing is signed at all'
    for name, act in AGAIN.items():
        print(f'{name}:', 'SIGNED' if is_signed(act()) else 'refused', flush=True)
elif what == 'at-once':
    ready, signed = threading.Barrier(12), []

    def one(number):
        connection = connect()
        ready.wait()
        answer = ask(sign(sshsig(hash=bytes([number]) * 64)), connection)
        signed.extend([number] if is_signed(answer) else [])

    threads = [threading.Thread(target=one, args=[number]) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f'signed {len(signed)}')
elif what == 'later':
    # Goes on when its command has ended, and tries by its old connection and by a new one.
    if os.fork() == 0:
        os.setsid()
        null = os.open('/dev/null', os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        while not os.path.exists('go'):
            time.sleep(0.02)
        answers = [ask(sign(sshsig()), SAME), ask(sign(sshsig(hash=b'l' * 64)))]
        open('said.new', 'w').write(' '.join('SIGNED' if is_signed(each) else 'refused' for each in answers))
        os.rename('said.new', 'said')
    os._exit(0)
elif what == 'each':
    rest, signed = KEYS[5:], 0
    while rest:
        length, = struct.unpack('>I', rest[:4])
        key, rest = rest[4:4 + length], rest[4 + length:]
        length, = struct.unpack('>I', rest[:4])
        rest = rest[4 + length:]
        signed += is_signed(ask(sign(sshsig(), key=key)))
    print(f'signed {signed}')
elif what == 'many':
    signed = [is_signed(ask(sign(sshsig(hash=bytes([number]) * 64)))) for number in range(40)]
    print(f'signed {sum(signed)}')
elif what == 'full':
    # The connection by which keys were listed has to be gone.
    time.sleep(0.2)
    connections = [SAME]
    try:
        while len(connections) < 24:
            connections.append(connect())
    except ConnectionRefusedError:
        pass
    print(f'open {len(connections)}', flush=True)
    if os.fork() == 0:
        os.setsid()
        null = os.open('/dev/null', os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        if not os.path.exists('held'):
            open('held', 'w').close()
            ended = sum(one.recv(1) == b'' for one in connections)
            open('ended.new', 'w').write(f'ended {ended}')
            os.rename('ended.new', 'ended')
        os._exit(0)
    while not os.path.exists('held'):
        time.sleep(0.02)
    os._exit(0)
elif what == 'orphans':
    # They call themselves as commands were once called, each time by another name.
    open('signed', 'w').close()
    for number in range(8):
        if os.fork() == 0:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            while os.getppid() != 1:
                time.sleep(0.001)
            for time_of in range(20):
                name = 16 * number + time_of
                open('/proc/self/comm', 'w').write(f'{name:015x}')
                if is_signed(ask(sign(sshsig(hash=bytes([name]) * 64)))):
                    open('signed', 'a').write('x')
            os._exit(0)
    time.sleep(0.3)
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(20)
