import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toApprovalRecord } from '../../lib/contract/records/approval.ts'
import { findMacs, isMacOf, macOf, maskMacs } from '../../lib/core/callback-mac.ts'
import { BY_CREATION, BY_ID, decodeCursor, encodeCursor } from '../../lib/core/cursor.ts'
import { describeFile, describeMedia } from '../../lib/core/describe-media.ts'
import { agentIdFrom, agentIdOf, isSlug, isUuid } from '../../lib/core/ids.ts'
import { ExactNumber } from '../../lib/core/json/exact-number.ts'
import type { Json, JsonObject } from '../../lib/core/json/json.ts'
import { system } from '../../lib/system.ts'
import { PDF, pdfOf } from '../support/data/files.ts'

const organization = '01a1fbd8-f907-73e1-8ecc-40c3d58a948b'

it('agentIdOf is stable, because it identifies published agents, of an organization and a slug', () => {
  expect(agentIdOf(organization, 'redact-pii')).toBe('bcdcbcbe-44be-5371-bd45-496aa3d80f48')
  expect(agentIdOf(organization, 'a')).not.toBe(agentIdOf(organization, 'b'))
  expect(agentIdOf(organization, 'a')).not.toBe(agentIdOf(system.newId(), 'a'))
})

it('agentIdFrom accepts a UUID in either case, and derives the id from a slug', () => {
  expect(agentIdFrom(organization, organization.toUpperCase())).toBe(organization)
  expect(agentIdFrom(organization, 'redact-pii')).toBe(agentIdOf(organization, 'redact-pii'))
  expect(agentIdFrom(organization, 'Redact PII')).toBeUndefined()
})

describe('isSlug', () => {
  it.each(['a', 'redact-pii', 'a1-b2', 'x'.repeat(64)])('accepts %s', (text) =>
    expect(isSlug(text)).toBe(true),
  )

  it.each(['', '-a', 'a-', 'a--b', 'A', 'a_b', 'a b', 'ä', 'a\n', 'x'.repeat(65), organization])(
    'rejects %j',
    (text) => expect(isSlug(text)).toBe(false),
  )
})

it('newId returns UUIDv7 in ascending order', () => {
  const ids = Array.from({ length: 10_000 }, () => system.newId())
  expect(ids.every((id) => isUuid(id) && id[14] === '7')).toBe(true)
  expect(ids).toEqual([...ids].sort())
  expect(new Set(ids).size).toBe(ids.length)
})

describe('decodeCursor', () => {
  const id = fc.uuid()
  const date = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
  const anyText = fc.oneof(
    fc.string(),
    fc.base64String(),
    id.map((order) => `${encodeCursor({ order })}A`),
  )

  it('decodes the cursors of lists with the same order, by id or creation', () => {
    fc.assert(
      fc.property(date, id, (at, order) => {
        const created = { order: `${at.toISOString()}#${order}` }
        expect(decodeCursor(encodeCursor({ order }), BY_ID)).toEqual({ order })
        expect(decodeCursor(encodeCursor(created), BY_CREATION)).toEqual(created)
        expect(decodeCursor(encodeCursor({ order }), BY_CREATION)).toBeUndefined()
      }),
    )
  })

  it('accepts only the text that encodeCursor returns for a position', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const position = decodeCursor(text, BY_ID)
        expect(position ? encodeCursor(position) : text).toBe(text)
      }),
    )
  })
})

describe('callback mac', () => {
  const id = '01a2003a-d1f2-7169-a695-5ea4428d9251'

  const mac = macOf('secret', id, 'paid')

  const url = `https://api.example.com/v1/callbacks/${id}/paid/${mac}`

  const masked = url.replace(mac, '[secret callback]')

  it('isMacOf accepts the MAC of this execution and name only', () => {
    const execution = { id, callbackSecret: 'secret' }
    expect(isMacOf(execution, 'paid', mac)).toBe(true)
    expect(isMacOf(execution, 'pai', mac)).toBe(false)
    for (const other of [{ callbackSecret: 'other' }, { callbackSecret: null }, { id: id.replace('1', '2') }])
      expect(isMacOf({ ...execution, ...other }, 'paid', mac)).toBe(false)
    // As many characters, but more bytes.
    for (const text of ['', mac.slice(1), `${mac}0`, `${mac.slice(1)}ä`])
      expect(isMacOf(execution, 'paid', text)).toBe(false)
  })

  it('maskMacs replaces every MAC, in keys, too, and nothing else', () => {
    const number = new ExactNumber('12345678901234567890')
    const value = { [url]: [url, { a: `${mac}${mac}` }, 1, null, number], aescb_: 'aescb_short' }
    const twice = '[secret callback][secret callback]'
    const expected = { [masked]: [masked, { a: twice }, 1, null, number], aescb_: 'aescb_short' }
    expect(maskMacs(value)).toEqual(expected)
    expect(findMacs(JSON.stringify(value))).toEqual([mac, mac, mac, mac])
  })

  it('maskMacs is applied to what approvers see', () => {
    const execution = { id, agentId: id, versionId: id, tenantId: null }
    const times = { since: '', until: '', step: 1 }
    const approval = { id: 'a', name: 'a', title: url, reason: url, input: { url }, ...times, show: [] }
    const reader = { access: { scopes: null }, mayDecide: true, isSummary: false }
    const record = toApprovalRecord({ execution, ...approval, inputSchema: null }, reader)
    expect(record).toMatchObject({ title: masked, reason: masked, input: { url: masked } })
  })
})

const described = { mediaType: 'application/pdf', bytes: 40, sha256: expect.stringMatching(/^[0-9a-f]{16}$/) }

it('describeFile has the size and a hash in place of the data, and other members', () => {
  expect(describeFile({ ...PDF, name: 'May.pdf' })).toEqual({ ...described, name: 'May.pdf' })
  expect(describeFile({ ...PDF, data: pdfOf(41) })).not.toEqual(describeFile(PDF))
  expect(describeFile('x')).toBe('x')
})

describe('describeMedia', () => {
  it('describes files and data URLs at every level, the same as each other', () => {
    const url = `data:application/pdf;base64,${PDF.data}`
    const value = { a: PDF, b: [PDF, { c: url }], d: 'text', e: null } as unknown as JsonObject
    const expected = { a: described, b: [described, { c: described }], d: 'text', e: null }
    expect(describeMedia(value)).toEqual(expected)
    expect(describeMedia(url)).toEqual(describeFile(PDF))
  })

  it.each<[Json]>([
    [{ mediaType: 'image/png', data: 'see attachment' }],
    [{ mediaType: 'text/plain', data: PDF.data }],
    [{ data: PDF.data }],
    ['data:text/plain,Hello'],
    [new ExactNumber('1e400') as unknown as Json],
  ])('changes nothing else: %j', (value) => expect(describeMedia(value)).toEqual(value))
})
