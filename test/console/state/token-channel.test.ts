import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { linkTabs, readMessage, type TabChannel } from '../../../console/state/token-channel.ts'

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

let open: ReturnType<typeof startOrigin>
beforeEach(() => {
  vi.useFakeTimers()
  open = startOrigin()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A tab with a token, and what it is told. */
function openTab(token: string | null, usedAt = 0) {
  const ended: [string, boolean][] = []
  const link = linkTabs(open(), {
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
    const other = open()
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
