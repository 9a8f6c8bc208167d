import { beforeAll, describe, expect, it } from 'vitest'
import { cliOfFile, greeter, inFolder } from './cli.ts'

const cli = cliOfFile({ hasDatabase: true })

const publish = (folder: string, ...options: string[]) =>
  cli.json(['publish', folder, '--no-types', ...options])
const greet = async (slug: string, ...options: string[]) =>
  (await cli.json(['run', slug, '--input', '-', ...options], { stdin: '{"name":"Ada"}' })).said

describe('publish, list, show, versions', () => {
  let first: { agentId: string; versionId: string; slug: string; status: string }

  beforeAll(async () => {
    cli.write(inFolder('hello', greeter('Hello')))
    first = await publish('hello')
  })

  it('prints the same records as the API', async () => {
    const shown = await cli.json(['show', 'hello'])
    expect(shown).toMatchObject({
      id: first.agentId,
      slug: 'hello',
      title: 'Says Hello',
      currentVersionId: first.versionId,
      draftVersionId: null,
      draftVersionStatus: null,
      inputSchema: { name: { type: 'string', description: 'Whom to greet.' } },
    })
    expect(await cli.json(['list'])).toEqual([shown])
    expect(await cli.json(['show', first.agentId])).toEqual(shown)
    const [version, ...others] = await cli.json(['versions', 'hello'])
    expect(others).toEqual([])
    expect(version).toMatchObject({ id: first.versionId, documentId: first.agentId, status: 'PUBLISHED' })
  })

  it('prints the result and the next commands as text', async () => {
    cli.write(inFolder('a folder/bye', greeter('Bye')))
    const { code, stdout, stderr } = await cli.run(['publish', 'a folder/bye'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^Published bye to data\.\n {2}version {2}[0-9a-f-]{36}\n/)
    expect(stdout).toContain('npx agent-execution run bye --input input.json')
    expect((await cli.run(['publish', 'a folder/bye', '--draft', '--no-types'])).stdout).toContain(
      "publish 'a folder/bye'",
    )

    const list = (await cli.run(['list'])).stdout.trimEnd().split('\n')
    expect(list[0]).toMatch(/^SLUG +TITLE +CURRENT VERSION +DRAFT +UPDATED$/)
    expect(list[1]).toMatch(/^bye +Says Bye +[0-9a-f-]{36} +[0-9a-f-]{36} +just now$/)
    expect(list[2]).toMatch(/^hello +Says Hello +[0-9a-f-]{36} +- +just now$/)
    const column = list[0]?.indexOf('UPDATED')
    expect(list.map((line) => line.search(/UPDATED|just now/))).toEqual([column, column, column])

    expect((await cli.run(['show', 'hello'])).stdout).toMatch(
      /^Input\n- name +string +required +Whom to greet\.$/m,
    )
  })

  it('resolves paths relative to the folder in which npm was called', async () => {
    cli.write(inFolder('below/here', { ...greeter('Here'), 'agent.ts': 'export default (\n' }))
    const environment = { npm_lifecycle_event: 'agents', INIT_CWD: `${cli.folder}/below`, DATA_DIR: 'data' }
    expect(await cli.json(['list'], { environment })).toEqual(await cli.json(['list']))
    const { code, stderr } = await cli.run(['publish', 'here'], { environment })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^here\/agent\.ts:2:1: Unexpected end of file\n/)
  })
})

describe('an unknown agent or version', () => {
  it('is an error that suggests a similar slug', async () => {
    const message =
      'Agent helo not found in organization Development. Did you mean hello? List agents: npx agent-execution list'
    expect(await cli.json(['show', 'helo'], { code: 1 })).toEqual({
      error: { code: 'AgentNotFound', message },
    })
  })
})

describe('drafts', () => {
  let draft: { versionId: string; status: string }

  beforeAll(async () => {
    cli.write(inFolder('wave', greeter('Wave')))
    draft = await publish('wave', '--draft')
  })

  it('runs only with --version before a version is published', async () => {
    expect(draft.status).toBe('DRAFT')
    expect(await cli.json(['show', 'wave'])).toMatchObject({
      currentVersionId: null,
      draftVersionId: draft.versionId,
      draftVersionStatus: 'DRAFT',
    })
    expect((await cli.run(['list'])).stdout).toMatch(/^wave +Says Wave +draft only +/m)
    const { error } = await cli.json(['run', 'wave', '--input', '-'], { stdin: '{}', code: 1 })
    expect(error.message).toBe(
      `Agent wave has no published version. Run the draft with --version ${draft.versionId}, or publish the agent.`,
    )
    expect(await greet('wave', '--version', draft.versionId)).toBe('Wave Ada')
  })
})
