import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { batchStore } from '../../lib/dynamodb/batch-store.ts'
import { anEndedTrial } from '../support/batches/a-batch.ts'
import { newOrganization, sharedTable } from '../support/engine/organization.ts'
import { greeter, inFolder, newCli } from './cli.ts'

const cli = newCli()
afterAll(cli.remove)

const publish = (said: string, ...options: string[]) => {
  cli.write(inFolder('hello', greeter(said)))
  return cli.json(['publish', 'hello', '--no-types', ...options])
}
const greet = async () => (await cli.json(['run', 'hello', '--input', '-'], { stdin: '{"name":"Ada"}' })).said

describe('promote, diff, delete-version', () => {
  const ids: string[] = []

  beforeAll(async () => {
    for (const said of ['Hello', 'Hi']) ids.push((await publish(said, '--message', `Says ${said}`)).versionId)
  })

  it('promotes an older version, and says how to go back', async () => {
    const [first = '', second = ''] = ids
    const { stdout } = await cli.run(['promote', 'hello', first.toUpperCase()])
    expect(stdout).toBe(
      `Version ${first} of hello is now current.\nRoll back: npm run agents -- promote hello ${second}\n`,
    )
    expect(await greet()).toBe('Hello Ada')
    expect(await cli.json(['promote', 'hello', second])).toMatchObject({ currentVersionId: second })
    expect((await cli.run(['promote', 'hello', second])).stdout).toBe(
      `Version ${second} of hello was already current.\n`,
    )
  })

  it('compares the previous version with the current one, and shows messages', async () => {
    const { stdout } = await cli.run(['diff', 'hello'])
    expect(stdout).toContain(`- ${ids[0]}, published, created just now: Says Hello`)
    expect(stdout).toContain('/title\n- "Says Hello"\n+ "Says Hi"\n')
    const diff = await cli.json(['diff', 'hello', ...ids])
    expect(diff).toMatchObject({ before: ids[0], after: ids[1], instructions: [] })
    expect(diff.changes.map(({ path }: { path: string }) => path)).toEqual(['/title', '/code'])
    expect((await cli.run(['diff', 'hello', ids[1] ?? ''])).stdout).toContain(
      'The versions have the same content.',
    )
    expect((await cli.run(['versions', 'hello'])).stdout).toMatch(/ Says Hi +Says Hi\n/)
  })

  it('promotes the draft by default', async () => {
    const { versionId } = await publish('Wink', '--draft')
    expect((await cli.run(['diff', 'hello'])).stdout).toContain('+ "Says Wink"')
    expect(await cli.json(['promote', 'hello'])).toMatchObject({ currentVersionId: versionId })
    const { error } = await cli.json(['promote', 'hello'], { code: 1 })
    expect(error.message).toContain('Agent hello has no draft.')
  })

  it('deletes a draft, and no published version', async () => {
    const { versionId } = await publish('Wave', '--draft')
    expect(await cli.json(['delete-version', 'hello', versionId])).toEqual({ id: versionId, deleted: true })
    const again = await cli.json(['delete-version', 'hello', versionId], { code: 1 })
    expect(again.error.code).toBe('VersionNotFound')
    const { error } = await cli.json(['delete-version', 'hello', ids[0] ?? ''], { code: 1 })
    expect(error.code).toBe('VersionPublished')
  })

  it('says that the same content creates no version', async () => {
    const first = await publish('Same')
    const { stdout } = await cli.run(['publish', 'hello'])
    expect(stdout).toMatch(
      /^Published hello\. A version with this content existed; nothing new was created\.\n/,
    )
    expect(stdout).toContain(first.versionId)
  })
})

describe('a version that requires a trial', () => {
  const GATE = 'execution: { promotion: { require: trial, maxChanged: 0 } }'
  const write = (said: string) => cli.write(inFolder('gated', greeter(said, GATE)))

  it('is only replaced by one that was tried: the command says how', async () => {
    write('Hello')
    const { versionId: current } = await cli.json(['publish', 'gated', '--no-types'])
    write('Hi')
    const { code, stderr } = await cli.run(['publish', 'gated', '--no-types'])
    expect([code, stderr]).toEqual([
      1,
      [
        'The current version of gated requires a trial of what replaces it:',
        '  npm run agents -- publish <folder> --draft',
        '  npm run agents -- trial gated --max-cost <dollars>',
        '  npm run agents -- promote gated --trial <id>',
        '',
      ].join('\n'),
    ])
    const { stdout } = await cli.run(['publish', 'gated', '--no-types', '--draft'])
    expect(stdout).toContain(
      'Try it:      npm run agents -- trial gated --max-cost <dollars>\nPromote it:  npm run agents -- promote gated --trial <id>\n',
    )
    expect(stdout).not.toContain('Publish it:')
    expect((await cli.json(['promote', 'gated'], { code: 1 })).error.code).toBe('TrialRequired')
    const unknown = await cli.json(['promote', 'gated', '--trial', current], { code: 1 })
    const notFound =
      'There is no such trial of this version of gated. List trials: npm run agents -- trials list'
    expect(unknown.error).toEqual({ message: notFound, code: 'TrialNotFound' })
    expect((await cli.json(['show', 'gated'])).currentVersionId).toBe(current)
  })

  it('is replaced over HTTP by one whose trial meets the gate', async () => {
    const org = await newOrganization()
    const target = ['--url', inject('service'), '--token', org.token]
    write('Hello')
    const { versionId: current, agentId } = await cli.json(['publish', 'gated', '--no-types', ...target])
    write('Hi')
    const direct = await cli.json(['publish', 'gated', '--no-types', ...target], { code: 1 })
    expect(direct.error).toMatchObject({
      code: 'TrialRequired',
      message: expect.stringContaining('--trial <id>'),
    })
    const { versionId } = await cli.json(['publish', 'gated', '--no-types', '--draft', ...target])
    const store = async (counts: Parameters<typeof anEndedTrial>[1]) => {
      const { batch, lines } = anEndedTrial({ organizationId: org.id, agentId, versionId }, counts)
      await batchStore(sharedTable()).create({ batch, lines })
      return batch.id
    }
    const without = await cli.json(['promote', 'gated', ...target], { code: 1 })
    expect(without.error.code).toBe('TrialRequired')
    const unknown = await cli.json(['promote', 'gated', '--trial', current, ...target], { code: 1 })
    expect(unknown.error.message).toContain('List trials: npm run agents -- trials list --url ')
    const trialId = await store({ SAME: 1, CHANGED: 2 })
    expect((await cli.json(['promote', 'gated', '--trial', trialId, ...target], { code: 1 })).error).toEqual({
      message: '2 runs changed; at most 0 may (maxChanged).',
      code: 'TrialFailed',
      trialId,
      runs: 3,
      verdicts: { SAME: 1, CHANGED: 2, CORRECTED: 0, REGRESSED: 0, DIVERGED: 0, ERROR: 0 },
      costIncrease: 0,
      limits: { maxChanged: 0 },
    })
    const promoted = await cli.run(['promote', 'gated', '--trial', await store({ SAME: 3 }), ...target])
    expect(promoted.stdout).toBe(
      `Version ${versionId} of gated is now current.\nRoll back: npm run agents -- promote gated ${current} --url ${inject('service')}\n`,
    )
    expect((await cli.run(['promote', 'gated', current, ...target])).code).toBe(0)
  })
})

describe('retire, unretire', () => {
  const hello = (said: string) => {
    cli.write(inFolder('retiring', { ...greeter(said) }))
    return cli.json(['publish', 'retiring', '--no-types'])
  }

  it('retires a version that is not the current one, which then neither runs nor is promoted', async () => {
    const { versionId: old } = await hello('Hello')
    const { versionId: current } = await hello('Hi')
    expect((await cli.run(['retire', 'retiring', old])).stdout).toBe(
      `Retired version ${old} of retiring. Make it usable again: npm run agents -- unretire retiring ${old}\n`,
    )
    expect((await cli.run(['versions', 'retiring'])).stdout).toMatch(new RegExp(`${old} +retired `))
    const versions = await cli.json(['versions', 'retiring'])
    expect(versions.map(({ retiredAt }: { retiredAt: string }) => typeof retiredAt)).toEqual([
      'object',
      'string',
    ])
    const error = {
      message: `Version ${old} of retiring is retired. Make it usable again: npm run agents -- unretire retiring ${old}`,
      code: 'VersionRetired',
    }
    const input = { stdin: '{"name":"x"}', code: 1 }
    const run = await cli.json(['run', 'retiring', '--version', old, '--input', '-'], input)
    const promoted = await cli.json(['promote', 'retiring', old], { code: 1 })
    expect([run.error, promoted.error]).toEqual([error, error])
    expect((await cli.json(['retire', 'retiring', current], { code: 1 })).error).toEqual({
      message: `Version ${current} is the current one of retiring. Promote another one first: npm run agents -- promote retiring <version>`,
      code: 'VersionNotRetirable',
    })
    expect((await cli.json(['unretire', 'retiring', old])).retiredAt).toBeNull()
    expect(await cli.json(['promote', 'retiring', old])).toMatchObject({ currentVersionId: old })
  })
})

describe('archive, restore', () => {
  it('archives an agent, which then neither runs nor is published or listed', async () => {
    cli.write(inFolder('gone', greeter('Gone')))
    await cli.json(['publish', 'gone', '--no-types'])
    expect((await cli.json(['archive', 'gone'])).archivedAt).toEqual(expect.any(String))
    const run = await cli.json(['run', 'gone', '--input', '-'], { stdin: '{"name":"x"}', code: 1 })
    expect(run.error).toEqual({
      message: 'Agent gone is archived. Restore it: npm run agents -- restore gone',
      code: 'AgentArchived',
    })
    cli.write(inFolder('gone', greeter('Changed')))
    expect((await cli.json(['publish', 'gone'], { code: 1 })).error.code).toBe('AgentArchived')
    const slugs = async (...options: string[]) =>
      (await cli.json(['list', ...options])).map(({ slug }: { slug: string }) => slug)
    expect(await slugs()).not.toContain('gone')
    expect(await slugs('--archived')).toContain('gone')
    expect((await cli.run(['list', '--archived'])).stdout).toMatch(/ARCHIVED\n.*gone .* just now\n/)
    expect((await cli.json(['restore', 'gone'])).archivedAt).toBeNull()
    expect(await slugs()).toContain('gone')
  })
})

describe('publish --url', () => {
  it('publishes to a service with a token, like the command does locally', async () => {
    const org = await newOrganization()
    const target = ['--url', `${inject('service')}/`, '--token', org.token]
    cli.write(inFolder('remote', greeter('Remote')))
    const first = await cli.json(['publish', 'remote', ...target, '--message', 'First'])
    expect(first).toMatchObject({ slug: 'remote', status: 'PUBLISHED' })
    expect((await org.run('remote', { name: 'Ada' })).json).toEqual({ said: 'Remote Ada' })
    const { stdout } = await cli.run(
      ['publish', 'remote', '--no-types', '--url', `${inject('service')}/v1`],
      {
        environment: { AGENTS_TOKEN: org.token },
      },
    )
    expect(stdout).toContain('nothing new was created')
    const [version, ...others] = (await org.call('GET', '/v1/agents/remote/versions')).json
    expect([version.id, version.message, others]).toEqual([first.versionId, 'First', []])
    // The same content has the same hash wherever it is published.
    const local = await cli.json(['publish', 'remote', '--no-types'])
    const [{ contentHash }] = await cli.json(['versions', 'remote'])
    expect([contentHash, local.slug]).toEqual([version.contentHash, 'remote'])
  })

  it.each([
    [
      'without a token',
      ['--url', 'http://127.0.0.1:1'],
      '--url needs an API token: specify --token, or set AGENTS_TOKEN.',
    ],
    ['with a token but no address', ['--token', 'x'], '--token needs --url.'],
    [
      'with --org',
      ['--url', 'http://a', '--token', 'x', '--org', '0d3c6b3e-8a53-4c1e-9c2b-5a1f0e6d7c48'],
      '--url cannot be combined',
    ],
    [
      'with an unreachable service',
      ['--url', 'http://127.0.0.1:1', '--token', 'x'],
      'Cannot reach http://127.0.0.1:1/v1/agents',
    ],
  ])('fails %s', async (_, options, message) => {
    cli.write(inFolder('remote', greeter('Remote')))
    const { error } = await cli.json(['publish', 'remote', '--no-types', ...options], { code: 1 })
    expect(error.message).toContain(message)
  })

  it('prints what the service rejects, and keeps the token to itself', async () => {
    const org = await newOrganization()
    cli.write(inFolder('remote', greeter('Remote')))
    const { code, stderr } = await cli.run([
      'publish',
      'remote',
      '--url',
      inject('service'),
      '--token',
      `${org.token}x`,
    ])
    expect([code, stderr]).toEqual([1, expect.stringContaining('401 Unauthorized')])
    expect(stderr).not.toContain(org.token)
  })
})
