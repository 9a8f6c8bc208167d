import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** What is not globally reachable (IANA special-purpose address registries), and multicast. */
const FORBIDDEN_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8',
  '169.254.0.0/16', // link-local, with the metadata services
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4', // multicast
  '240.0.0.0/4',
]

/** The only block of global unicast addresses: v4-mapped, NAT64, unique-local and link-local ones lie outside. */
const GLOBAL_V6 = ['2000::/3']

/** What lies in that block and leads elsewhere: Teredo and 6to4 carry an IPv4 address of the sender's choice. */
const FORBIDDEN_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const forbiddenV4 = blockList(FORBIDDEN_V4, 'ipv4')
const globalV6 = blockList(GLOBAL_V6, 'ipv6')
const forbiddenV6 = blockList(FORBIDDEN_V6, 'ipv6')

/** Whether an address (dotted, or IPv6 without brackets) is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !forbiddenV4.check(address, 'ipv4')
  if (isIPv6(address)) return globalV6.check(address, 'ipv6') && !forbiddenV6.check(address, 'ipv6')
  return false
}

function blockList(blocks: string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const block of blocks) {
    const [network = '', prefix] = block.split('/')
    list.addSubnet(network, Number(prefix), family)
  }
  return list
}
