import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { promoteVersion } from '../../lib/agents/lifecycle/change-agent.ts'
import { resolveAgent } from '../../lib/agents/resolve-agent.ts'
import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import { system } from '../../lib/system.ts'
import { DEVELOPMENT_ORGANIZATION } from '../../local/development.ts'
import { loadAgent } from '../../local/load-agent.ts'
import { hashSources, publishFolder, sourcesOutside } from '../../local/publish-folder.ts'
import { sharedTable } from '../support/engine/organization.ts'

vi.mock('../../local/load-agent.ts', { spy: true })

const store = agentStore(sharedTable())
let folder: string
let slug: string

const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
const stateFile = () => join(folder, 'published.json')
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

/** What was published, and how many folders were checked and bundled. */
async function publish() {
  vi.mocked(loadAgent).mockClear()
  const agents = await publishFolder(store, join(folder, 'agents'), stateFile())
  return { agents, loaded: vi.mocked(loadAgent).mock.calls.length }
}

const reference = () => ({ store, organizationId: DEVELOPMENT_ORGANIZATION.id, idOrSlug: slug })
const currentVersion = async () => (await resolveAgent(reference())).current

const published = () => ({ agents: [{ slug, isNew: true }], loaded: 1 })
const unchanged = () => ({ agents: [{ slug, isNew: false }], loaded: 0 })

describe('publishFolder', () => {
  it.each([
    ['its document', () => write('agents/one/agent.md', document('Two'))],
    ['its code', () => write('agents/one/agent.ts', `export default () => ({ text: 'new' })`)],
    [
      'a file outside the folder that its code imports',
      () => write('words.ts', `export const words = 'after'`),
    ],
  ])('publishes it again when %s changes', async (_, change) => {
    await publish()
    change()
    expect(await publish()).toEqual(published())
    expect(await publish()).toEqual(unchanged())
  })

  it('leaves an unchanged folder alone when another version has become current: a rollback survives a restart', async () => {
    await publish()
    const first = await currentVersion()
    write('agents/one/agent.md', document('Other'))
    await publish()
    await promoteVersion({ ...reference(), system, versionId: String(first?.id) })
    expect(await publish()).toEqual(unchanged())
    expect((await currentVersion())?.id).toBe(first?.id)
  })

  it('reports an invalid folder at every start, keeps its last version, and publishes the others', async () => {
    await publish()
    mkdirSync(join(folder, 'agents', 'two'))
    const other = `other-${slug}`
    write('agents/two/agent.md', document('Two').replace(slug, other))
    write('agents/two/agent.ts', `export default () => ({ text: 'two' })`)
    write('agents/one/agent.ts', 'export default () => {')
    const invalid = {
      folder: join(folder, 'agents', 'one'),
      problems: [expect.stringMatching(/agents\/one\/agent\.ts:\d+:\d+: /)],
    }
    expect((await publish()).agents).toEqual([invalid, { slug: other, isNew: true }])
    expect((await publish()).agents).toEqual([invalid, { slug: other, isNew: false }])
    expect((await currentVersion())?.title).toBe('One')

    write('agents/one/agent.ts', `export default () => ({ text: 'repaired' })`)
    expect((await publish()).agents).toEqual([
      { slug, isNew: true },
      { slug: other, isNew: false },
    ])
  })
})

describe('hashSources', () => {
  it('changes when a file is renamed or removed', async () => {
    const own = join(folder, 'agents', 'one')
    const seen = [await hashSources(own, [])]
    write('agents/one/note', 'x')
    seen.push(await hashSources(own, []))
    rmSync(join(own, 'note'))
    write('agents/one/notes', 'x')
    seen.push(await hashSources(own, []), await hashSources(own, [join(folder, 'words.ts')]))
    rmSync(join(folder, 'words.ts'))
    seen.push(await hashSources(own, [join(folder, 'words.ts')]))
    expect(new Set(seen).size).toBe(seen.length)
  })
})

describe('sourcesOutside', () => {
  it('leaves out the folder and packages, whose versions are in the lock file', () => {
    const sources = [
      '/a/agents/one/agent.ts',
      '/a/agents/one-more/x.ts',
      '/a/node_modules/p/index.js',
      '/b.ts',
    ]
    expect(sourcesOutside('/a/agents/one', sources)).toEqual(['/a/agents/one-more/x.ts', '/b.ts'])
  })
})
