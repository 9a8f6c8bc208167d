import { beforeEach, describe, expect, it } from 'vitest'
import { isJwt, isToken, openTokenStorage } from '../../../console/state/token-storage.ts'
import { MAX_JWT_CHARACTERS } from '../../../lib/core/access.ts'
import { aStorage } from './a-storage.ts'

const DAY = 86_400_000
const KEY = 'key'
const TOKEN = 'aes_1'
const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'

let tab: ReturnType<typeof aStorage>
let device: ReturnType<typeof aStorage>
let now: number
const open = () => openTokenStorage(KEY, { tab, device, now: () => now })

beforeEach(() => {
  tab = aStorage()
  device = aStorage()
  now = Date.parse('2026-11-26T09:00:00Z')
})

it('a token can be what a header can contain, and as long as the service accepts', () => {
  expect([TOKEN, JWT, 'x'.repeat(MAX_JWT_CHARACTERS)].every(isToken)).toBe(true)
  const others = [null, 1, {}, '', 'a b', 'a\nb', 'ü', '\u202eaes_1', 'x'.repeat(MAX_JWT_CHARACTERS + 1)]
  expect(others.some(isToken)).toBe(false)
  tab.setItem(KEY, 'aes 1')
  expect(open().load()).toBeNull()
})

describe('a token that the device keeps', () => {
  it('expires after 7 days, and is then removed', () => {
    open().keep(TOKEN)
    now += 7 * DAY - 1
    expect(open().loadKept()).toBe(TOKEN)
    now += 1
    expect(open().loadKept()).toBeNull()
    expect(device.length).toBe(0)
  })

  it.each([
    'null',
    '<script>alert(1)</script>',
    JSON.stringify({ token: TOKEN, expiresAt: '2026-11-27T09:00:00Z' }),
    // Nothing is kept for longer, whatever the clock was.
    JSON.stringify({ token: TOKEN, expiresAt: Date.parse('2026-12-26T09:00:00Z') }),
    JSON.stringify({ token: 'aes_1\r\nX: y', expiresAt: Date.parse('2026-11-27T09:00:00Z') }),
    JSON.stringify({ token: JWT, expiresAt: Date.parse('2026-11-27T09:00:00Z') }),
  ])('is not read from %s, which is removed', (text) => {
    device.setItem(KEY, text)
    expect(open().loadKept()).toBeNull()
    expect(device.length).toBe(0)
  })

  it('is forgotten; another one is not when a token is rejected', () => {
    open().keep(TOKEN)
    open().forget('aes_2')
    expect(open().loadKept()).toBe(TOKEN)
    open().forget(TOKEN)
    expect(open().loadKept()).toBeNull()
  })
})

describe('a token that is signed out', () => {
  it('is no longer used by a tab that was asleep, until somebody signs in with it again', () => {
    open().save(TOKEN)
    open().mark(TOKEN, true)
    open().mark('aes_2', true)
    expect(open().load()).toBeNull()
    expect(device.all()).not.toContain('aes_')
    open().mark(TOKEN, false)
    expect(open().load()).toBe(TOKEN)
    open().mark('aes_2', false)
    expect(device.length).toBe(0)
  })

  it.each(['{', '[1,{}]'])('marks that are %s mean nothing', (text) => {
    device.setItem(`${KEY} signed-out`, text)
    open().save(TOKEN)
    expect(open().load()).toBe(TOKEN)
    open().mark(TOKEN, true)
    expect(open().load()).toBeNull()
  })

  it('is one of at most 20', () => {
    for (let number = 0; number < 30; number++) open().mark(`aes_${number}`, true)
    expect(JSON.parse(device.getItem(`${KEY} signed-out`) ?? '').length).toBe(20)
  })
})

it('a token of an identity provider is never stored, and replaces what was', () => {
  expect([isJwt(JWT), isJwt(TOKEN)]).toEqual([true, false])
  open().save(TOKEN)
  open().save(JWT)
  open().keep(JWT)
  expect(tab.length + device.length).toBe(0)
})

const deny = () => {
  throw new DOMException('Access is denied for this document.', 'SecurityError')
}
const denied = { ...aStorage(), getItem: deny, setItem: deny, removeItem: deny }

it.each([null, denied])('a browser that blocks storage keeps nothing, and nothing fails', (blocked) => {
  const storage = openTokenStorage(KEY, { tab: blocked, device: blocked, now: () => now })
  storage.save(TOKEN)
  storage.keep(TOKEN)
  storage.forget()
  storage.forget(TOKEN)
  expect([storage.load(), storage.loadKept()]).toEqual([null, null])
})
