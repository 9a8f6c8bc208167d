import { describe, expect, it } from 'vitest'
import { toApprovalRecord } from '../../lib/contract/records/approval.ts'
import { findMacs, isMacOf, macOf, maskMacs } from '../../lib/core/callback-mac.ts'
import { ExactNumber } from '../../lib/core/json/exact-number.ts'

const id = '01a2003a-d1f2-7169-a695-5ea4428d9251'
const mac = macOf('secret', id, 'paid')
const url = `https://api.example.com/v1/callbacks/${id}/paid/${mac}`
const masked = url.replace(mac, '[secret callback]')

describe('isMacOf', () => {
  it('accepts the MAC of this execution and name only', () => {
    expect(isMacOf({ id, callbackSecret: 'secret' }, 'paid', mac)).toBe(true)
    expect(isMacOf({ id, callbackSecret: 'other' }, 'paid', mac)).toBe(false)
    expect(isMacOf({ id, callbackSecret: 'secret' }, 'pai', mac)).toBe(false)
    expect(isMacOf({ id: id.replace('1', '2'), callbackSecret: 'secret' }, 'paid', mac)).toBe(false)
    expect(isMacOf({ id, callbackSecret: null }, 'paid', mac)).toBe(false)
    // As many characters, but more bytes.
    for (const text of ['', mac.slice(1), `${mac}0`, `${mac.slice(1)}ä`])
      expect(isMacOf({ id, callbackSecret: 'secret' }, 'paid', text)).toBe(false)
  })
})

describe('maskMacs', () => {
  it('replaces every MAC, in keys, too, and nothing else', () => {
    const number = new ExactNumber('12345678901234567890')
    const value = { [url]: [url, { a: `${mac}${mac}` }, 1, null, number], aescb_: 'aescb_short' }
    expect(maskMacs(value)).toEqual({
      [masked]: [masked, { a: '[secret callback][secret callback]' }, 1, null, number],
      aescb_: 'aescb_short',
    })
    expect(findMacs(JSON.stringify(value))).toEqual([mac, mac, mac, mac])
  })

  it('is applied to what approvers see', () => {
    const execution = { id, agentId: id, versionId: id, tenantId: null }
    const approval = { id: 'a', name: 'a', title: url, input: { url }, since: '', until: '', step: 1 }
    const reader = { access: { scopes: null }, mayDecide: true, isSummary: false }
    expect(toApprovalRecord({ execution, ...approval, inputSchema: null }, reader)).toMatchObject({
      title: masked,
      input: { url: masked },
    })
  })
})
