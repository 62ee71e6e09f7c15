import * as asn1 from 'asn1js';

/** The contents of a certificate. */
interface CertificateFields {
  readonly subject: string;
  readonly issuer: string;
  /** The key as `SubjectPublicKeyInfo`, in DER. */
  readonly publicKey: Buffer;
  /** The key's identifier. */
  readonly keyId: Buffer;
  readonly issuerKeyId: Buffer;
  /** The server of the certificate; undefined: an authority. */
  readonly holder: CertificateHolder | undefined;
  readonly serial: Buffer;
  readonly from: Date;
  readonly until: Date;
}

/** A server, by its name or by the bytes of its address. */
export type CertificateHolder = { readonly name: string } | { readonly address: Buffer };

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';
const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1';
/** The extensions of RFC 5280, 4.2.1. */
const KEY_ID = '2.5.29.14';
const KEY_USAGE = '2.5.29.15';
const ALTERNATIVE_NAME = '2.5.29.17';
const BASIC_CONSTRAINTS = '2.5.29.19';
const ISSUER_KEY_ID = '2.5.29.35';
const EXTENDED_KEY_USAGE = '2.5.29.37';
/** Bits of the usage, and the number of unused bits in their byte. */
const SIGNS_CERTIFICATES = { bits: 0x06, unused: 1 };
const SIGNS_ALONE = { bits: 0x80, unused: 7 };

/**
 * Makes an X.509 certificate for a key of an elliptic curve, as DER.
 *
 * @param sign Signs with the issuer's key, by ECDSA and SHA-256: a signature in DER.
 */
export function makeCertificate(fields: CertificateFields, sign: (data: Buffer) => Buffer): Buffer {
  const algorithm = () => sequence(oid(ECDSA_WITH_SHA256));
  const body = sequence(
    tagged(0, new asn1.Integer({ value: 2 })),
    new asn1.Integer({ valueHex: fields.serial }),
    algorithm(),
    nameOf(fields.issuer),
    sequence(
      new asn1.UTCTime({ valueDate: fields.from }),
      new asn1.UTCTime({ valueDate: fields.until }),
    ),
    nameOf(fields.subject),
    asn1.fromBER(fields.publicKey).result,
    tagged(3, sequence(...extensionsOf(fields))),
  );
  const signature = new asn1.BitString({ valueHex: sign(Buffer.from(body.toBER())) });
  return Buffer.from(sequence(body, algorithm(), signature).toBER());
}

function extensionsOf({ holder, keyId, issuerKeyId }: CertificateFields): asn1.Sequence[] {
  const isAuthority = holder === undefined;
  const usage = isAuthority ? SIGNS_CERTIFICATES : SIGNS_ALONE;
  const constraints = isAuthority ? [new asn1.Boolean({ value: true })] : [];
  const common = [
    extension(BASIC_CONSTRAINTS, sequence(...constraints), true),
    extension(KEY_USAGE, bits(usage), true),
    extension(KEY_ID, new asn1.OctetString({ valueHex: keyId })),
    extension(ISSUER_KEY_ID, sequence(bytesTagged(0, issuerKeyId))),
  ];
  if (isAuthority) return common;
  const name =
    'name' in holder ? bytesTagged(2, Buffer.from(holder.name)) : bytesTagged(7, holder.address);
  return [
    ...common,
    extension(EXTENDED_KEY_USAGE, sequence(oid(SERVER_AUTHENTICATION))),
    extension(ALTERNATIVE_NAME, sequence(name)),
  ];
}

function extension(id: string, value: asn1.BaseBlock, isCritical = false): asn1.Sequence {
  const critical = isCritical ? [new asn1.Boolean({ value: true })] : [];
  return sequence(oid(id), ...critical, new asn1.OctetString({ valueHex: value.toBER() }));
}

function nameOf(text: string): asn1.Sequence {
  const part = sequence(oid(COMMON_NAME), new asn1.Utf8String({ value: text }));
  return sequence(new asn1.Set({ value: [part] }));
}

function bits({ bits: value, unused }: typeof SIGNS_ALONE): asn1.BitString {
  return new asn1.BitString({ valueHex: Buffer.from([value]), unusedBits: unused });
}

function sequence(...value: asn1.BaseBlock[]): asn1.Sequence {
  return new asn1.Sequence({ value });
}

function oid(value: string): asn1.ObjectIdentifier {
  return new asn1.ObjectIdentifier({ value });
}

/** Makes a context-specific field, whose meaning depends on its place. */
function tagged(tagNumber: number, value: asn1.BaseBlock): asn1.Constructed {
  return new asn1.Constructed({ idBlock: { tagClass: 3, tagNumber }, value: [value] });
}

function bytesTagged(tagNumber: number, valueHex: Buffer): asn1.Primitive {
  return new asn1.Primitive({ idBlock: { tagClass: 3, tagNumber }, valueHex });
}
