import { beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization } from '../support/engine/organization.ts'
import { cliOfFile, greeter, inFolder } from './cli.ts'

const cli = cliOfFile({ hasDatabase: true })

const publishTo = async (slug: string, said: string, ...options: string[]): Promise<string> => {
  cli.write(inFolder(slug, greeter(said)))
  return (await cli.json(['publish', slug, '--no-types', ...options])).versionId
}
const publish = (said: string, ...options: string[]) => publishTo('hello', said, ...options)
const greet = async (...options: string[]) =>
  (await cli.json(['run', 'hello', '--input', '-', ...options], { stdin: '{"name":"Ada"}' })).said
const errorOf = async (...args: string[]) => (await cli.json(args, { code: 1 })).error

describe('promote, diff, delete-version', () => {
  const ids: string[] = []
  beforeAll(async () => {
    for (const said of ['Hello', 'Hi']) ids.push(await publish(said, '--message', `Says ${said}`))
  })

  it('promotes an older version, and says how to go back', async () => {
    const [first = '', second = ''] = ids
    expect((await cli.run(['promote', 'hello', first.toUpperCase()])).stdout).toBe(
      `Version ${first} of hello is now current.\nRoll back: npx agent-execution promote hello ${second}\n`,
    )
    expect(await greet()).toBe('Hello Ada')
    expect(await cli.json(['promote', 'hello', second])).toMatchObject({ currentVersionId: second })
    expect((await cli.run(['promote', 'hello', second])).stdout).toContain('was already current.\n')
  })

  it('compares the previous version with the current one, and shows messages', async () => {
    const { stdout } = await cli.run(['diff', 'hello'])
    expect(stdout).toContain(`- ${ids[0]}, published, created just now: Says Hello`)
    expect(stdout).toContain('/title\n- "Says Hello"\n+ "Says Hi"\n')
    const diff = await cli.json(['diff', 'hello', ...ids])
    expect(diff).toMatchObject({ before: ids[0], after: ids[1], instructions: [] })
    expect(diff.changes.map(({ path }: { path: string }) => path)).toEqual(['/title', '/code'])
    const same = await cli.run(['diff', 'hello', ids[1] ?? ''])
    expect(same.stdout).toContain('The versions have the same content.')
    expect((await cli.run(['versions', 'hello'])).stdout).toMatch(/ Says Hi +Says Hi\n/)
  })

  it('promotes the draft by default', async () => {
    const versionId = await publish('Wink', '--draft')
    expect((await cli.run(['diff', 'hello'])).stdout).toContain('+ "Says Wink"')
    expect(await cli.json(['promote', 'hello'])).toMatchObject({ currentVersionId: versionId })
    expect((await errorOf('promote', 'hello')).message).toContain('Agent hello has no draft.')
  })

  it('deletes a draft, and no published version', async () => {
    const id = await publish('Wave', '--draft')
    expect(await cli.json(['delete-version', 'hello', id])).toEqual({ id, deleted: true })
    expect((await errorOf('delete-version', 'hello', ids[0] ?? '')).code).toBe('VersionPublished')
  })
})

describe('a version that requires a trial', () => {
  const GATE = 'execution: { promotion: { require: trial, maxChanged: 0 } }'
  const write = (said: string) => cli.write(inFolder('gated', greeter(said, GATE)))

  it('is only replaced by one whose trial meets the gate: the command says how', async () => {
    const org = await newOrganization()
    const url = inject('service')
    const target = ['--url', url, '--token', org.token]
    write('Hello')
    const { versionId: current } = await cli.json(['publish', 'gated', '--no-types', ...target])
    write('Hi')
    expect(await cli.run(['publish', 'gated', '--no-types', ...target])).toMatchObject({
      code: 1,
      stderr: [
        'The current version of gated requires a trial of what replaces it:',
        `  npx agent-execution publish <folder> --draft --url ${url}`,
        `  npx agent-execution trial gated --max-cost <dollars> --url ${url}`,
        `  npx agent-execution promote gated --trial <id> --url ${url}`,
        '',
      ].join('\n'),
    })
    await cli.json(['publish', 'gated', '--no-types', '--draft', ...target])
    const unknown = await errorOf('promote', 'gated', '--trial', current, ...target)
    expect(unknown.message).toContain('List trials: npx agent-execution trials list --url ')
  })
})

describe('retire, unretire, archive, restore', () => {
  it('retires a version that is not the current one, which then neither runs nor is promoted', async () => {
    const old = await publishTo('retiring', 'Hello')
    const current = await publishTo('retiring', 'Hi')
    const retired = await cli.run(['retire', 'retiring', old])
    const again = `Make it usable again: npx agent-execution unretire retiring ${old}`
    expect(retired.stdout).toBe(`Retired version ${old} of retiring. ${again}\n`)
    expect((await cli.run(['versions', 'retiring'])).stdout).toMatch(new RegExp(`${old} +retired `))
    expect(await errorOf('promote', 'retiring', old)).toEqual({
      message: `Version ${old} of retiring is retired. ${again}`,
      code: 'VersionRetired',
    })
    expect(await errorOf('retire', 'retiring', current)).toEqual({
      message: `Version ${current} is the current one of retiring. Promote another one first: npx agent-execution promote retiring <version>`,
      code: 'VersionNotRetirable',
    })
    expect((await cli.json(['unretire', 'retiring', old])).retiredAt).toBeNull()
  })
})

describe('rollout', () => {
  const rollout = (...args: string[]) => cli.run(['rollout', 'hello', ...args])
  let [current, draft] = ['', '']
  beforeAll(async () => {
    current = await publish('Hello')
    draft = await publish('Hey', '--draft')
  })

  it('starts, changes, shows and ends a rollout', async () => {
    expect(await errorOf('rollout', 'hello')).toMatchObject({
      code: 'RolloutNotFound',
      message: expect.stringContaining('rollout <slug> --percent 10'),
    })
    const started = await rollout('--percent', '100', '--max-error-rate', '0.05', '--min-runs', '50')
    expect(started.stdout).toContain(`Version ${draft} gets 100 % of the runs since `)
    expect(started.stdout).toContain('It ends if, after 50 runs, more than 5 % fail.')
    expect(started.stdout).toContain(`npx agent-execution promote hello ${draft}`)
    expect(await greet()).toBe('Hey Ada')
    expect(await greet('--version', current)).toBe('Hello Ada')
    // The other settings stay.
    expect(await cli.json(['rollout', 'hello', '--percent', '1', '--key', 'execution'])).toMatchObject({
      ...{ versionId: draft, percent: 1, key: 'execution', abort: { maxErrorRate: 0.05, minRuns: 50 } },
    })
    expect((await rollout()).stdout).toContain('gets 1 % of the runs')
    expect((await cli.run(['versions', 'hello'])).stdout).toContain('rollout 1 %')
    expect(await cli.json(['rollout', 'hello', '--max-error-rate', '0.2'])).toMatchObject({
      ...{ percent: 1, key: 'execution', abort: { maxErrorRate: 0.2 } },
    })
    expect((await rollout('--end')).stdout).toBe('Ended the rollout of hello.\n')
    expect(await greet()).toBe('Hello Ada')
  })

  it('names what is wrong', async () => {
    for (const [code, args, message] of [
      [2, '--percent 0', 'a number from 1 to 100 with at most two decimals.'],
      [2, '--percent 33.333', 'a number from 1 to 100 with at most two decimals.'],
      [2, '--percent 1 --max-error-rate 1.5', 'a number from 0 to 1'],
      [2, '--percent 1 --min-runs 0', 'an integer from 1 to'],
      [1, `--percent 1 --version ${current} --min-runs 5`, '--min-runs needs'],
      [1, `--key tenant --version ${current}`, 'Start one with --percent.'],
      [2, '--end --percent 1', 'cannot be used with'],
    ] as const) {
      const { error } = await cli.json(['rollout', 'hello', ...args.split(' ')], { code })
      expect(error.message).toContain(message)
    }
  })
})

describe('--url', () => {
  it('commands do with a service what they do on a table', async () => {
    const org = await newOrganization()
    const target = ['--url', `${inject('service')}/`, '--token', org.token]
    const first = await publishTo('remote', 'Remote', ...target, '--message', 'First')
    expect((await org.run('remote', { name: 'Ada' })).json).toEqual({ said: 'Remote Ada' })
    const { stdout } = await cli.run(['publish', 'remote', '--url', `${inject('service')}/v1`], {
      environment: { AGENTS_TOKEN: org.token },
    })
    expect(stdout).toContain('A version with this content existed; nothing new was created.\n')
    const [version] = (await org.call('GET', '/v1/agents/remote/versions')).json
    expect(version).toMatchObject({ id: first, message: 'First' })
    // The same content has the same hash wherever it is published.
    await publishTo('remote', 'Remote')
    expect(await cli.json(['versions', 'remote'])).toMatchObject([{ contentHash: version.contentHash }])
    const next = await publishTo('remote', 'Hi', '--draft', ...target)
    for (const line of [
      'list',
      'show remote',
      'versions remote',
      `diff remote ${first} ${next}`,
      'rollout remote --percent 10',
      'rollout remote --end',
      `promote remote ${next}`,
      `retire remote ${first}`,
      `unretire remote ${first}`,
      'archive remote',
      'restore remote',
      'audit --agent remote',
    ])
      expect((await cli.run([...line.split(' '), ...target])).code, line).toBe(0)
    expect((await org.call('GET', '/v1/agents/remote')).json).toMatchObject({ currentVersionId: next })
    expect(await errorOf('delete-version', 'remote', first, ...target)).toMatchObject({
      ...{ code: 'VersionPublished', message: expect.stringMatching(/^Cannot delete the draft: /) },
    })
  })
})
