"""A gpg agent's client that asks for all that it should not get: `gpg.py KEYGRIP`."""
import os, socket, sys

GRIP = sys.argv[1]
HASH = 'SETHASH --hash=sha256 ' + '07' * 32


def say(*lines):
    """The last line of the answer to each command."""
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(20)
    one.connect('/run/forkline/gpg-agent')
    stream = one.makefile('rwb')
    stream.readline()
    answers = []
    for line in lines:
        try:
            stream.write(line.encode() + b'\n')
            stream.flush()
            answer = stream.readline()
            while answer[:2] in (b'S ', b'D ', b'# '):
                answers.append(answer[:2].decode().strip())
                answer = stream.readline()
            answers.append(answer.split(b' ')[0].decode().strip())
        except (BrokenPipeError, ConnectionResetError):
            answers.append('')
    return answers


def sign(*more):
    return say(f'SIGKEY {GRIP}', HASH, *more, 'PKSIGN')[-2:] == ['D', 'OK']


REFUSED = {
    'decrypts': ['PKDECRYPT'],
    'decrypts with a key': [f'SETKEY {GRIP}', 'PKDECRYPT'],
    'exports a key': [f'EXPORT_KEY {GRIP}'],
    'exports a key as openpgp': [f'EXPORT_KEY --openpgp {GRIP}'],
    'wraps keys': ['KEYWRAP_KEY --export'],
    'imports a key': ['IMPORT_KEY'],
    'makes a key': ['GENKEY'],
    'deletes a key': [f'DELETE_KEY --force {GRIP}'],
    'changes a passphrase': [f'PASSWD {GRIP}'],
    'sets a passphrase': [f'PRESET_PASSPHRASE {GRIP} -1 00'],
    'asks for a passphrase': ['GET_PASSPHRASE --data X X X X'],
    'clears a passphrase': ['CLEAR_PASSPHRASE x'],
    'asks the user': ['GET_CONFIRMATION hello'],
    'ends the agent': ['KILLAGENT'],
    'has the agent read its settings': ['RELOADAGENT'],
    'reads values': ['GETVAL x'],
    'keeps values': ['PUTVAL x y'],
    'talks to a card': ['SCD SERIALNO'],
    'learns a card': ['LEARN'],
    'changes the terminal': ['UPDATESTARTUPTTY'],
    'asks for the socket': ['GETINFO socket_name'],
    'signs without a hash': [f'SIGKEY {GRIP}', 'PKSIGN'],
    'signs without a key': [HASH, 'PKSIGN'],
    'signs with another key': ['SIGKEY ' + '0' * 40, HASH, 'PKSIGN'],
    'signs what is asked for later': [f'SIGKEY {GRIP}', 'SETHASH --inquire', 'PKSIGN'],
    'a command in small letters': [f'SIGKEY {GRIP}', HASH, 'pksign'],
    'a line of 2000 bytes': ['x' * 2000],
    'a line with other characters': ['GETINFO \u00fc'],
}

assert sign('OPTION display=:7', 'OPTION ttyname=/dev/pts/7', 'SETKEYDESC x'), 'nothing is signed'
for name, lines in REFUSED.items():
    answer = say(*lines)[-1]
    print(f'{name}:', 'refused' if answer in ('ERR', '') else answer, flush=True)
print('one more:', 'SIGNED' if sys.argv[2] == 'once' and sign() else 'refused')
