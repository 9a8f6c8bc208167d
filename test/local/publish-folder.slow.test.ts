import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest'
import { promoteVersion } from '../../lib/agents/lifecycle/change-agent.ts'
import { resolveAgent } from '../../lib/agents/resolve-agent.ts'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { system } from '../../lib/system.ts'
import { hashSources, sourcesOutside } from '../../local/checked-agents.ts'
import { DEVELOPMENT_ORGANIZATION } from '../../local/development.ts'
import { loadAgent } from '../../local/load-agent.ts'
import { publishFolder } from '../../local/publish-folder.ts'
import { cliOfFile } from '../cli/cli.ts'
import { sharedTable } from '../support/engine/organization.ts'

vi.mock('../../local/load-agent.ts', { spy: true })

const cli = cliOfFile()
const stores = openStores(sharedTable())
const store = stores.agents
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
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

/** What was published, and how many folders were checked and bundled. */
async function publish(cache: string | null = null) {
  vi.mocked(loadAgent).mockClear()
  const agents = await publishFolder(stores, join(folder, 'agents'), stateFile(), cache)
  return { agents, loaded: vi.mocked(loadAgent).mock.calls.length }
}

const reference = () => ({ store, organizationId: DEVELOPMENT_ORGANIZATION.id, idOrSlug: slug })
const currentVersion = async () => (await resolveAgent(reference())).current

/** As the commands `publish` and `dev` do. */
async function publishByCommand(draft: boolean): Promise<void> {
  const environment = { DATA_DIR: folder, DYNAMODB_ENDPOINT: inject('dynamodb') }
  const args = ['publish', join(folder, 'agents', 'one'), '--no-types', ...(draft ? ['--draft'] : [])]
  await cli.json(args, { environment })
}

const entriesOf = async (agentId: string) => {
  const { organizationId } = reference()
  const range = { from: 0, limit: 20, after: null }
  const { items } = await stores.audit.list({ organizationId, target: agentId, ...range })
  return items.map(({ action, result, source, changes }) => ({ action, result, source, changes }))
}

/** Publishes two versions, and returns to the first. */
async function rollBack() {
  await publish()
  const first = await currentVersion()
  write('agents/one/agent.md', document('Other'))
  await publish()
  await promote(first?.id)
  return first
}
const promote = (versionId: string | undefined) =>
  promoteVersion({ by: { by: 'author' }, ...reference(), system, versionId: String(versionId) })

const published = () => ({ agents: [{ slug, isNew: true }], loaded: 1 })
const unchanged = () => ({ agents: [{ slug, isNew: false }], loaded: 0 })

describe('publishFolder', () => {
  it.each([
    ['its document', () => write('agents/one/agent.md', document('Two'))],
    ['its code', () => write('agents/one/agent.ts', `export default () => ({ text: 'new' })`)],
    ['a file outside that its code imports', () => write('words.ts', `export const words = 'after'`)],
  ])('publishes it again when %s changes', async (_, change) => {
    await publish()
    change()
    expect(await publish()).toEqual(published())
    expect(await publish()).toEqual(unchanged())
  })

  it('checks nothing that was checked for another data folder, until it changes, and never an agent with variables', async () => {
    const cache = join(folder, 'cache')
    expect(await publish(cache)).toEqual(published())
    rmSync(stateFile())
    expect(await publish(cache)).toEqual(unchanged())
    rmSync(stateFile())
    write('words.ts', `export const words = 'after'`)
    expect(await publish(cache)).toEqual(published())
    const withVariable = document('Two').replace('code: true', 'code: true\nenv: [HOME]')
    write('agents/one/agent.md', withVariable)
    expect(await publish(cache)).toEqual(published())
    rmSync(stateFile())
    expect(await publish(cache)).toEqual({ ...unchanged(), loaded: 1 })
  })

  it('leaves an unchanged folder alone when another version has become current: a rollback survives a restart', async () => {
    const first = await rollBack()
    expect(await publish()).toEqual(unchanged())
    expect((await currentVersion())?.id).toBe(first?.id)
  })

  it.each([
    ['publish', false],
    ['dev or publish --draft, which stays a draft', true],
  ])('leaves a folder alone that was last published by %s', async (_, draft) => {
    await publish()
    const first = await currentVersion()
    write('agents/one/agent.md', document('Other'))
    await publishByCommand(draft)
    if (!draft) await promote(first?.id)
    const checked = { ...unchanged(), loaded: 1 }
    expect(await publish()).toEqual(checked)
    expect(await publish()).toEqual(unchanged())
    expect((await currentVersion())?.title).toBe('One')
    // Back to what was published before: it differs from what was published last.
    write('agents/one/agent.md', document('Third'))
    expect(await publish()).toEqual(published())
  })

  it('does not publish a new folder whose draft a command has published', async () => {
    await publishByCommand(true)
    await publish()
    expect(await currentVersion()).toBeNull()
  })

  it('leaves a folder alone in which a file has changed that no version depends on, also after it was invalid', async () => {
    const first = await rollBack()
    write('agents/one/cases.yaml', '[]')
    expect(await publish()).toEqual({ ...unchanged(), loaded: 1 })
    write('agents/one/agent.md', '---')
    await publish()
    write('agents/one/agent.md', document('Other'))
    await publish()
    expect((await currentVersion())?.id).toBe(first?.id)
  })

  it('records what it publishes in the audit log, and nothing else', async () => {
    await publish()
    const first = await currentVersion()
    write('agents/one/notes', 'x')
    await publish()
    expect(await entriesOf(String(first?.agentId))).toEqual([
      {
        action: 'agent.publish',
        result: 'SUCCEEDED',
        source: { interface: 'CLI', host: expect.any(String) },
        changes: { slug, draft: false, versionId: first?.id, isNew: true },
      },
    ])
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
    const kept = ['/a/agents/one-more/x.ts', '/b.ts']
    const sources = ['/a/agents/one/agent.ts', '/a/node_modules/p/index.js', ...kept]
    expect(sourcesOutside('/a/agents/one', sources)).toEqual(kept)
  })
})
