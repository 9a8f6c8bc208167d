import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { linkTabs, readMessage, type TabChannel } from '../../../console/state/token-channel.ts'
import { isJwt, isToken, openTokenStorage } from '../../../console/state/token-storage.ts'
import { MAX_JWT_CHARACTERS } from '../../../lib/core/access.ts'
import { aStorage } from './a-storage.ts'

type Listener = (event: { data: unknown }) => void

/** Tabs of one origin: a message reaches all others, as a copy. */
function startOrigin() {
  const tabs: Listener[][] = []
  return (): TabChannel => {
    const listeners: Listener[] = []
    tabs.push(listeners)
    return {
      postMessage(message) {
        const others = tabs.filter((each) => each !== listeners).flat()
        for (const send of others) queueMicrotask(() => send({ data: structuredClone(message) }))
      },
      addEventListener: (_, listener) => void listeners.push(listener),
    }
  }
}

let openChannel: ReturnType<typeof startOrigin>
beforeEach(() => {
  vi.useFakeTimers()
  openChannel = startOrigin()
  tab = aStorage()
  device = aStorage()
  now = Date.parse('2026-11-26T09:00:00Z')
})
afterEach(() => void vi.useRealTimers())

/** A tab with a token, and what it is told. */
function openTab(token: string | null, usedAt = 0) {
  const ended: [string, boolean][] = []
  const link = linkTabs(openChannel(), {
    current: () => ({ token, usedAt }),
    onEnded: (...end) => void ended.push(end),
  })
  return { link, ended }
}

/** @param meanwhile what happens before the others answer */
async function ask(
  tab: ReturnType<typeof openTab>,
  meanwhile: () => unknown = () => null,
): Promise<string[]> {
  const taken: string[] = []
  tab.link.ask((token) => void taken.push(token))
  await meanwhile()
  await vi.advanceTimersByTimeAsync(1_000)
  return taken
}

describe('a new tab', () => {
  it('gets the token of the tab that was used last, and only that, in whatever order they answer', async () => {
    openTab('aes_1', 10)
    openTab('aes_2', 30)
    openTab('aes_3', 20)
    openTab(null)
    expect(await ask(openTab(null))).toEqual(['aes_2'])
  })

  it('gets nothing when all others are closed or signed out', async () => {
    openTab(null)
    expect(await ask(openTab(null))).toEqual([])
  })

  it('takes no answer that it did not ask for, or to another question', async () => {
    const tab = openTab(null)
    const other = openChannel()
    const answer = () => other.postMessage({ kind: 'answer', id: '1', token: 'aes_evil', usedAt: 1 })
    answer()
    expect(await ask(tab, answer)).toEqual([])
  })

  it('takes no answer after it has signed in otherwise', async () => {
    openTab('aes_1')
    const tab = openTab(null)
    expect(await ask(tab, () => tab.link.cancel())).toEqual([])
  })

  it('takes no token that is signed out meanwhile', async () => {
    const signedIn = openTab('aes_1')
    const signOut = async () => {
      await vi.advanceTimersByTimeAsync(5)
      signedIn.link.end('aes_1', false)
    }
    expect(await ask(openTab(null), signOut)).toEqual([])
  })
})

it('the end of a token is told to all other tabs, with the reason', async () => {
  const [first, second, third] = [openTab('aes_1'), openTab('aes_1'), openTab('aes_2')]
  first.link.end('aes_1', true)
  await vi.advanceTimersByTimeAsync(0)
  expect([first.ended, second.ended, third.ended]).toEqual([[], [['aes_1', true]], [['aes_1', true]]])
})

it.each([
  null,
  'ask',
  { kind: 'ask', id: { toString: 'x' } },
  { kind: 'answer', id: '1', token: 'a b', usedAt: 1 },
  { kind: 'answer', id: '1', token: 'aes_1', usedAt: '9' },
  { kind: 'ended', token: '<img src=x onerror=alert(1)>' },
  { kind: '__proto__', token: 'aes_1' },
])('ignores the message %j', (data) => {
  expect(readMessage(data)).toBeNull()
})

const DAY = 86_400_000
const KEY = 'key'
const TOKEN = 'aes_1'
const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'

let tab: ReturnType<typeof aStorage>
let device: ReturnType<typeof aStorage>
let now: number
const open = () => openTokenStorage(KEY, { tab, device, now: () => now })

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
