import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadFolder } from '../../lib/agents/load-folder.ts'
import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import { system } from '../../lib/system.ts'
import { publishFolder } from '../../local/publish-folder.ts'
import { fingerprintOf, outsideOf } from '../../local/source-hash.ts'
import { sharedTable } from '../support/organization.ts'

vi.mock('../../lib/agents/load-folder.ts', { spy: true })

const store = agentStore(sharedTable())
let folder: string
let slug: string

const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
const memory = () => join(folder, 'published.json')
const document = (title: string) => `---
title: ${title}
slug: ${slug}
code: true
input: { text: { type: string } }
output: { text: { type: string } }
---
`

beforeEach(() => {
  slug = `agent-${system.newId().slice(-12)}`
  folder = mkdtempSync(join(tmpdir(), 'aes-publish-'))
  mkdirSync(join(folder, 'agents', 'one'), { recursive: true })
  write('agents/one/agent.md', document('One'))
  write(
    'agents/one/agent.ts',
    `import { words } from '../../words.ts'\nexport default () => ({ text: words })\n`,
  )
  write('words.ts', `export const words = 'before'\n`)
})
afterEach(() => rmSync(folder, { recursive: true }))

/** What was published, and how many folders were checked and bundled for it. */
async function publish() {
  vi.mocked(loadFolder).mockClear()
  const published = await publishFolder(store, join(folder, 'agents'), memory())
  return { published, loaded: vi.mocked(loadFolder).mock.calls.length }
}

const first = () => ({ published: [{ slug, isNew: true }], loaded: 1 })
const nothing = () => ({ published: [{ slug, isNew: false }], loaded: 0 })

describe('publishFolder', () => {
  it('publishes a folder once, and does not look at it again while it stays as it is', async () => {
    expect(await publish()).toEqual(first())
    expect(await publish()).toEqual(nothing())
    expect(await publish()).toEqual(nothing())
  })

  it.each([
    ['its document', () => write('agents/one/agent.md', document('Two'))],
    ['its code', () => write('agents/one/agent.ts', `export default () => ({ text: 'new' })`)],
    ['what its code imports from elsewhere', () => write('words.ts', `export const words = 'after'`)],
  ])('publishes it again when %s has changed', async (_, change) => {
    await publish()
    change()
    expect(await publish()).toEqual(first())
    expect(await publish()).toEqual(nothing())
  })

  it('looks at a folder that has one file more, and publishes nothing when that is not in use', async () => {
    await publish()
    write('agents/one/unused.ts', 'export {}')
    expect(await publish()).toEqual({ published: [{ slug, isNew: false }], loaded: 1 })
    expect(await publish()).toEqual(nothing())
  })

  it('publishes what another version has replaced meanwhile', async () => {
    await publish()
    const before = join(folder, 'agents', 'one')
    write('agents/one/agent.md', document('Meanwhile'))
    await publishFolder(store, join(before, '..'), join(folder, 'other.json'))
    write('agents/one/agent.md', document('One'))
    expect(await publish()).toEqual(first())
  })

  it('looks at every folder when its memory cannot be read', async () => {
    await publish()
    write('published.json', '{')
    expect(await publish()).toEqual({ published: [{ slug, isNew: false }], loaded: 1 })
    expect(await publish()).toEqual(nothing())
  })

  it('remembers nothing of a folder that it refuses', async () => {
    write('agents/one/agent.md', '---\ntitle: One\n---\n')
    await expect(publish()).rejects.toThrow(/agents\/one\/agent\.md:\d+: input/)
    await expect(publish()).rejects.toThrow(/agents\/one\/agent\.md:\d+: input/)
  })
})

describe('the fingerprint of an agent', () => {
  it('is another one when a file has another name or goes away', async () => {
    const own = join(folder, 'agents', 'one')
    const seen = [await fingerprintOf(own, [])]
    write('agents/one/note', 'x')
    seen.push(await fingerprintOf(own, []))
    rmSync(join(own, 'note'))
    write('agents/one/notes', 'x')
    seen.push(await fingerprintOf(own, []), await fingerprintOf(own, [join(folder, 'words.ts')]))
    rmSync(join(folder, 'words.ts'))
    seen.push(await fingerprintOf(own, [join(folder, 'words.ts')]))
    expect(new Set(seen).size).toBe(seen.length)
  })

  it('takes packages for what the lock file says', () => {
    const sources = [
      '/a/agents/one/agent.ts',
      '/a/agents/one-more/x.ts',
      '/a/node_modules/p/index.js',
      '/b.ts',
    ]
    expect(outsideOf('/a/agents/one', sources)).toEqual(['/a/agents/one-more/x.ts', '/b.ts'])
  })
})
