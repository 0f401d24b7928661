// The CEL functions of Kubernetes for URLs, IP addresses, CIDRs, quantities and formats.
import { type Environment, Optional } from '@marcbachmann/cel-js';
import { BlockList, isIP, SocketAddress } from 'node:net';
import { matchesFormat, isCidr } from '../formats.ts';
import { compareQuantities, parseQuantity, type Quantity, quantityProblem } from '../../../kube/quantity.ts';

class QuantityValue {
  readonly quantity: Quantity;
  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }
  static parse(text: string): QuantityValue {
    const quantity = parseQuantity(text);
    if (quantity === undefined) throw new Error(quantityProblem);
    return new QuantityValue(quantity);
  }
  plus(other: QuantityValue | bigint, sign: bigint): QuantityValue {
    const amount = typeof other === 'bigint' ? other * billion : other.quantity.nano;
    return new QuantityValue({ ...this.quantity, nano: this.quantity.nano + sign * amount });
  }
}
const billion = 1_000_000_000n;

function registerQuantity(environment: Environment): void {
  const order = (a: QuantityValue, b: QuantityValue): number => compareQuantities(a.quantity, b.quantity);
  environment
    .registerType('Quantity', { ctor: QuantityValue, fields: {} })
    .registerFunction('quantity(string): Quantity', (text: string) => QuantityValue.parse(text))
    .registerFunction('isQuantity(string): bool', (text: string) => parseQuantity(text) !== undefined)
    .registerFunction('Quantity.isInteger(): bool', ({ quantity }: QuantityValue) => quantity.nano % billion === 0n)
    .registerFunction('Quantity.asInteger(): int', ({ quantity }: QuantityValue) => {
      if (quantity.nano % billion !== 0n) throw new Error('cannot convert value to integer');
      return quantity.nano / billion;
    })
    .registerFunction(
      'Quantity.asApproximateFloat(): double',
      ({ quantity }: QuantityValue) => Number(quantity.nano) / 1e9,
    )
    .registerFunction('Quantity.sign(): int', ({ quantity }: QuantityValue) =>
      quantity.nano < 0n ? -1n : quantity.nano > 0n ? 1n : 0n,
    )
    .registerFunction('Quantity.add(Quantity): Quantity', (a: QuantityValue, b: QuantityValue) => a.plus(b, 1n))
    .registerFunction('Quantity.add(int): Quantity', (a: QuantityValue, b: bigint) => a.plus(b, 1n))
    .registerFunction('Quantity.sub(Quantity): Quantity', (a: QuantityValue, b: QuantityValue) => a.plus(b, -1n))
    .registerFunction('Quantity.sub(int): Quantity', (a: QuantityValue, b: bigint) => a.plus(b, -1n))
    .registerFunction('Quantity.isLessThan(Quantity): bool', (a: QuantityValue, b: QuantityValue) => order(a, b) < 0)
    .registerFunction('Quantity.isGreaterThan(Quantity): bool', (a: QuantityValue, b: QuantityValue) => order(a, b) > 0)
    .registerFunction('Quantity.compareTo(Quantity): int', (a: QuantityValue, b: QuantityValue) => BigInt(order(a, b)));
}

class UrlValue {
  readonly url: URL;
  /** False for a path without a host, which is a valid URL too. */
  readonly absolute: boolean;
  constructor(text: string) {
    this.absolute = !text.startsWith('/');
    this.url = new URL(text, 'http://path.invalid');
  }
}

function isUrl(text: string): boolean {
  return text.startsWith('/') || URL.canParse(text);
}

function registerUrl(environment: Environment): void {
  const part = (value: UrlValue, read: (url: URL) => string): string => (value.absolute ? read(value.url) : '');
  environment
    .registerType('URL', { ctor: UrlValue, fields: {} })
    .registerFunction('url(string): URL', (text: string) => {
      if (!isUrl(text))
        throw new Error(
          `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
        );
      return new UrlValue(text);
    })
    .registerFunction('isURL(string): bool', isUrl)
    .registerFunction('URL.getScheme(): string', (value: UrlValue) => part(value, (url) => url.protocol.slice(0, -1)))
    .registerFunction('URL.getHost(): string', (value: UrlValue) => part(value, (url) => url.host))
    .registerFunction('URL.getHostname(): string', (value: UrlValue) =>
      part(value, (url) => url.hostname.replaceAll(/[[\]]/g, '')),
    )
    .registerFunction('URL.getPort(): string', (value: UrlValue) => part(value, (url) => url.port))
    .registerFunction('URL.getEscapedPath(): string', (value: UrlValue) => value.url.pathname)
    .registerFunction('URL.getQuery(): map', (value: UrlValue) => {
      const query: Record<string, string[]> = {};
      for (const [key, item] of value.url.searchParams) (query[key] ??= []).push(item);
      return query;
    });
}

class IpValue {
  readonly address: SocketAddress;
  constructor(text: string) {
    const family = isIP(text);
    if (family === 0)
      throw new Error(
        `IP Address ${JSON.stringify(text)} parse error during conversion from string: unable to parse IP`,
      );
    this.address = new SocketAddress({ address: text, family: family === 6 ? 'ipv6' : 'ipv4' });
  }
  within(...blocks: readonly string[]): boolean {
    return blocks.some((block) => new CidrValue(block).contains(this.address));
  }
}

class CidrValue {
  readonly address: string;
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
  constructor(text: string) {
    if (!isCidr(text))
      throw new Error(`network address parse error during conversion from string: ${JSON.stringify(text)}`);
    const slash = text.lastIndexOf('/');
    this.address = text.slice(0, slash);
    this.bits = Number(text.slice(slash + 1));
    this.family = isIP(this.address) === 6 ? 'ipv6' : 'ipv4';
  }
  contains(address: SocketAddress): boolean {
    if (address.family !== this.family) return false;
    const block = new BlockList();
    block.addSubnet(this.address, this.bits, this.family);
    return block.check(address);
  }
}

/** The type of `ip` in `ip.isCanonical(text)`. */
class IpNamespace {
  readonly name = 'ip';
}

function registerAddresses(environment: Environment): void {
  const containsCidr = (outer: CidrValue, inner: CidrValue): boolean =>
    inner.bits >= outer.bits && outer.contains(new IpValue(inner.address).address);
  environment
    .registerType('IP', { ctor: IpValue, fields: {} })
    .registerType('CIDR', { ctor: CidrValue, fields: {} })
    .registerType('IpNamespace', { ctor: IpNamespace, fields: {} })
    .registerConstant('ip', 'IpNamespace', new IpNamespace())
    .registerFunction('ip(string): IP', (text: string) => new IpValue(text))
    .registerFunction('isIP(string): bool', (text: string) => isIP(text) !== 0)
    .registerFunction(
      'IpNamespace.isCanonical(string): bool',
      (_: unknown, text: string) => new IpValue(text).address.address === text,
    )
    .registerFunction('string(IP): string', (ip: IpValue) => ip.address.address)
    .registerFunction('IP.family(): int', (ip: IpValue) => (ip.address.family === 'ipv6' ? 6n : 4n))
    .registerFunction('IP.isLoopback(): bool', (ip: IpValue) => ip.within('127.0.0.0/8', '::1/128'))
    .registerFunction('IP.isUnspecified(): bool', (ip: IpValue) => ip.within('0.0.0.0/32', '::/128'))
    .registerFunction('IP.isLinkLocalUnicast(): bool', (ip: IpValue) => ip.within('169.254.0.0/16', 'fe80::/10'))
    .registerFunction('IP.isLinkLocalMulticast(): bool', (ip: IpValue) => ip.within('224.0.0.0/24', 'ff02::/16'))
    .registerFunction(
      'IP.isGlobalUnicast(): bool',
      (ip: IpValue) =>
        !ip.within(
          '0.0.0.0/32',
          '255.255.255.255/32',
          '127.0.0.0/8',
          '169.254.0.0/16',
          '224.0.0.0/4',
          '::/127',
          'fe80::/10',
          'ff00::/8',
        ),
    )
    .registerFunction('cidr(string): CIDR', (text: string) => new CidrValue(text))
    .registerFunction('isCIDR(string): bool', isCidr)
    .registerFunction('CIDR.containsIP(IP): bool', (cidr: CidrValue, ip: IpValue) => cidr.contains(ip.address))
    .registerFunction('CIDR.containsIP(string): bool', (cidr: CidrValue, ip: string) =>
      cidr.contains(new IpValue(ip).address),
    )
    .registerFunction('CIDR.containsCIDR(CIDR): bool', containsCidr)
    .registerFunction('CIDR.containsCIDR(string): bool', (outer: CidrValue, inner: string) =>
      containsCidr(outer, new CidrValue(inner)),
    )
    .registerFunction('CIDR.ip(): IP', (cidr: CidrValue) => new IpValue(cidr.address))
    .registerFunction('CIDR.prefixLength(): int', (cidr: CidrValue) => BigInt(cidr.bits));
}

class FormatNamespace {
  readonly name = 'format';
}

class FormatValue {
  readonly check: (text: string) => string | undefined;
  constructor(check: (text: string) => string | undefined) {
    this.check = check;
  }
}

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const qualifiedName = /^([A-Za-z0-9.-]+\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

function pattern(expression: RegExp, maxBytes: number): FormatValue {
  return new FormatValue((text) =>
    text.length > maxBytes
      ? `must be no more than ${maxBytes} bytes`
      : expression.test(text)
        ? undefined
        : `must match ${expression.source}`,
  );
}

function standard(name: string): FormatValue {
  return new FormatValue((text) => (matchesFormat(text, name) ? undefined : `must be a valid ${name}`));
}

const formats: Readonly<Record<string, FormatValue>> = {
  dns1123Label: pattern(label, 63),
  dns1123Subdomain: standard('k8s-long-name'),
  dns1035Label: pattern(/^[a-z]([-a-z0-9]*[a-z0-9])?$/, 63),
  qualifiedName: pattern(qualifiedName, 317),
  labelValue: pattern(labelValue, 63),
  uri: standard('uri'),
  uuid: standard('uuid'),
  byte: standard('byte'),
  date: standard('date'),
  datetime: standard('datetime'),
};

function registerFormats(environment: Environment): void {
  environment
    .registerType('Format', { ctor: FormatValue, fields: {} })
    .registerType('FormatNamespace', { ctor: FormatNamespace, fields: {} })
    .registerConstant('format', 'FormatNamespace', new FormatNamespace())
    .registerFunction('FormatNamespace.named(string): optional<Format>', (_: unknown, name: string) =>
      formats[name] === undefined ? Optional.none() : Optional.of(formats[name]),
    )
    .registerFunction('Format.validate(string): optional<list<string>>', (value: FormatValue, text: string) => {
      const problem = value.check(text);
      return problem === undefined ? Optional.none() : Optional.of([problem]);
    });
  for (const [name, value] of Object.entries(formats)) {
    environment.registerFunction(`FormatNamespace.${name}(): Format`, () => value);
  }
}

export function registerNetwork(environment: Environment): void {
  registerQuantity(environment);
  registerUrl(environment);
  registerAddresses(environment);
  registerFormats(environment);
}
