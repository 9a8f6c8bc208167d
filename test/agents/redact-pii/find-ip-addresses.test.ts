import { describe, expect, test } from 'vitest'
import { findIpv4Addresses, findIpv6Addresses } from '../../../agents/redact-pii/find-ip-addresses.ts'
import { type Case, findTexts } from './find-texts.ts'

const IPV4: Case[] = [
  ['192.168.0.1, 0.0.0.0. (255.255.255.255)', ['192.168.0.1', '0.0.0.0', '255.255.255.255']],
  ['http://10.0.0.1:8080/x 10.0.0.0/24', ['10.0.0.1', '10.0.0.0']],
  ['10.0.0.1-10.0.0.9', ['10.0.0.1', '10.0.0.9']],
  ['Connected to 10.0.0.1. Next', ['10.0.0.1']],
]

const NO_IPV4 = [
  '1.2.3, 1.2.3.4.5, 256.1.1.1, 1.2.3.1000, 01.2.3.4',
  'v1.2.3.4, 1.2.3.4-beta, libc.so.1.2.3.4, a1.2.3.4, 1.2.3.4a',
  'version 1.2.3.4, Version: 1.2.3.4, Chrome/120.0.0.0, section-6.2.2.1, Section 6.2.2.1',
]

const IPV6: Case[] = [
  ['2001:0db8:85a3:0000:0000:8a2e:0370:7334', ['2001:0db8:85a3:0000:0000:8a2e:0370:7334']],
  ['1:2:3:4:5:6:7:8', ['1:2:3:4:5:6:7:8']],
  ['::1, fe80::1%eth0, dead:beef::cafe.', ['::1', 'fe80::1%eth0', 'dead:beef::cafe']],
  ['::ffff:192.0.2.1. 64:ff9b::192.0.2.33', ['::ffff:192.0.2.1', '64:ff9b::192.0.2.33']],
  ['[2001:db8::1]:443 2001:db8::/32', ['2001:db8::1', '2001:db8::']],
  ['[IPv6:2001:db8::1] addr:2001:db8::1: up', ['2001:db8::1', '2001:db8::1']],
  ['fe80::1%eth0-fe80::2%eth0', ['fe80::1%eth0', 'fe80::2%eth0']],
  ['fe80::1%1:2001::1', ['fe80::1', '1:2001::1']],
  ['FE80::1, fc00::, ff02::1', ['FE80::1', 'fc00::', 'ff02::1']],
]

const NO_IPV6 = [
  'std::string, a::b, abc::def, Foo::Bar::baz, std::vec::Vec::<u8>::new, f32::MAX, face::cafe',
  ':: alone, a :: b, x[::2], x[1::2], ::before, key::',
  '12:30:45, 2024-01-15T12:30:45.000Z, 12:30, 1:2:3',
  '00:1a:2b:3c:4d:5e, 00:11:22:33:44:55:66:77',
  'SHA256:9f:86:d0:81:88:4c:7d:65:9a:2f:ea:a0:c5:5a:d0:15',
  '1:2:3:4:5:6:7:8:9, 2001:db8::1::2, 12345::1, :beef:',
]

describe('findIpv4Addresses', () => {
  test.each(IPV4)('finds the addresses in %j', (text, found) => {
    expect(findTexts(findIpv4Addresses, text)).toEqual(found)
  })
  test.each(NO_IPV4)('finds nothing in %j', (text) => {
    expect(findTexts(findIpv4Addresses, text)).toEqual([])
  })
})

describe('findIpv6Addresses', () => {
  test.each(IPV6)('finds the addresses in %j', (text, found) => {
    expect(findTexts(findIpv6Addresses, text)).toEqual(found)
  })
  test.each(NO_IPV6)('finds nothing in %j', (text) => {
    expect(findTexts(findIpv6Addresses, text)).toEqual([])
  })
})
