import { describe, expect, it } from 'vitest'
import { LOOPBACK_ORGANIZATION } from '../../../lib/environment.ts'
import { parseHosts } from '../../../lib/host-list.ts'
import { findEndpointProblem } from '../../../lib/tools/egress/egress-policy.ts'
import { privateHosts } from '../../../lib/tools/egress/private-hosts.ts'

const ORGANIZATION = 'an organization'
const LOOPBACK = [
  '127.0.0.1:8080',
  'localhost:8080',
  'LOCALHOST',
  '127.1',
  '0x7f.1:80',
  '[::1]:8080',
  'a.localhost',
]
const LINK_LOCAL = ['169.254.169.254', '2852039166', '[fe80::1]', '10.0.0.1:443', '[::ffff:127.0.0.1]']

/** Whether a webhook that names its own host in allowedHosts may have it. */
function mayReach(host: string, environment: Record<string, string>): boolean {
  const mayBePrivate = privateHosts(ORGANIZATION, environment)
  return findEndpointProblem(`http://${host}/`, [host], mayBePrivate) === null
}

describe('privateHosts', () => {
  it.each([...LOOPBACK, ...LINK_LOCAL])('does not contain %s by default', (host) => {
    expect(mayReach(host, {})).toBe(false)
    expect(mayReach(host, { [LOOPBACK_ORGANIZATION]: 'another one' })).toBe(false)
  })

  it.each(LOOPBACK)('contains %s for the organization of the development token', (host) => {
    expect(mayReach(host, { [LOOPBACK_ORGANIZATION]: ORGANIZATION })).toBe(true)
  })

  it.each(LINK_LOCAL)('does not contain %s for it', (host) => {
    expect(mayReach(host, { [LOOPBACK_ORGANIZATION]: ORGANIZATION })).toBe(false)
  })

  it.each([
    ['10.0.0.1', '10.0.0.1:9000', true],
    ['10.0.0.1:9000', '10.0.0.1:9000', true],
    ['10.0.0.1:9000', '10.0.0.1:9001', false],
    ['other.internal, 10.0.0.1', '10.0.0.1', true],
    ['10.0.0.2', '10.0.0.1', false],
    ['[::1]', '[::1]:8080', true],
    ['127.0.0.1', 'localhost', false],
  ])('with "%s", %s: %s', (setting, host, isAllowed) => {
    expect(mayReach(host, { WEBHOOK_HOSTS: setting })).toBe(isAllowed)
  })

  it('takes public hosts over plain HTTP, whose addresses are checked at each request', () => {
    expect(mayReach('receiver.example', {})).toBe(true)
    expect(mayReach('8.8.8.8:8080', {})).toBe(true)
  })
})

it.each(['https://a.internal', 'a.internal/path', '*', 'a:b'])('parseHosts refuses %s', (text) => {
  expect(() => parseHosts(text)).toThrow(`contains "${text}"; it must have hosts separated by commas`)
})
