import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { newOrganization } from '../support/engine/organization.ts'
import { greeter, inFolder, newCli } from './cli.ts'

const cli = newCli()
afterAll(cli.remove)

const publish = async (said: string, ...options: string[]) => {
  cli.write(inFolder('hello', greeter(said)))
  return (await cli.json(['publish', 'hello', '--no-types', ...options])).versionId as string
}
const rollout = (...args: string[]) => cli.run(['rollout', 'hello', ...args])
const greet = async (...args: string[]) =>
  (await cli.json(['run', 'hello', '--input', '-', ...args], { stdin: '{"name":"Ada"}' })).said

let [current, draft] = ['', '']
beforeAll(async () => {
  current = await publish('Hello')
  draft = await publish('Hi', '--draft')
})

it('starts, changes, shows and ends a rollout', async () => {
  expect((await cli.json(['rollout', 'hello'], { code: 1 })).error).toMatchObject({
    code: 'RolloutNotFound',
    message: expect.stringContaining('rollout <slug> --percent 10'),
  })
  const started = await rollout('--percent', '100', '--max-error-rate', '0.05', '--min-runs', '50')
  expect(started.stdout).toContain(`Version ${draft} gets 100 % of the runs since `)
  expect(started.stdout).toContain('It ends if, after 50 runs, more than 5 % fail.')
  expect(started.stdout).toContain(`npm run agents -- promote hello ${draft}`)
  expect(await greet()).toBe('Hi Ada')
  expect(await greet('--version', current)).toBe('Hello Ada')
  // The other settings stay.
  expect(await cli.json(['rollout', 'hello', '--percent', '1', '--key', 'execution'])).toMatchObject({
    ...{ versionId: draft, percent: 1, key: 'execution' },
    abort: { maxErrorRate: 0.05, minRuns: 50 },
  })
  expect((await rollout()).stdout).toContain('gets 1 % of the runs')
  expect((await cli.run(['versions', 'hello'])).stdout).toContain('rollout 1 %')
  // Without a percentage, that of the rollout stays.
  expect(await cli.json(['rollout', 'hello', '--max-error-rate', '0.2'])).toMatchObject({
    ...{ versionId: draft, percent: 1, key: 'execution', abort: { maxErrorRate: 0.2, minRuns: 20 } },
  })
  expect((await cli.json(['rollout', 'hello', '--key', 'tenant'])).key).toBe('tenant')
  const retired = await cli.json(['retire', 'hello', draft], { code: 1 })
  expect(retired.error.code).toBe('VersionNotRetirable')
  expect((await rollout('--end')).stdout).toBe('Ended the rollout of hello.\n')
  expect(await greet()).toBe('Hello Ada')
})

it('needs the version beside a draft, as promote does', async () => {
  await rollout('--percent', '50', '--version', draft)
  const other = await publish('Hey', '--draft')
  for (const command of [
    ['promote', 'hello'],
    ['rollout', 'hello', '--percent', '60'],
  ]) {
    const { error } = await cli.json(command, { code: 1 })
    expect(error.message).toContain(`has the draft ${other} and a rollout of ${draft}. Specify `)
  }
  expect((await rollout('--percent', '60', '--version', draft)).code).toBe(0)
  cli.write(inFolder('hello', greeter('Hi')))
  const { stdout } = await cli.run(['publish', 'hello', '--no-types', '--draft'])
  expect(stdout).toContain('The rollout of hello has this content. A version with this content existed')
  expect(stdout).toContain(`promote hello ${draft}\n`)
  await cli.json(['delete-version', 'hello', other])
})

it('is promoted at the end', async () => {
  await rollout('--percent', '50', '--version', draft)
  expect(await cli.json(['promote', 'hello'])).toMatchObject({ currentVersionId: draft, rollout: null })
})

it('works over HTTP', async () => {
  const org = await newOrganization()
  const target = ['--url', inject('service'), '--token', org.token]
  cli.write(inFolder('hello', greeter('Hello')))
  await cli.json(['publish', 'hello', '--no-types', ...target])
  cli.write(inFolder('hello', greeter('Hi')))
  const { versionId } = await cli.json(['publish', 'hello', '--no-types', '--draft', ...target])
  const started = await cli.json([
    'rollout',
    'hello',
    '--percent',
    '10',
    '--max-error-rate',
    '0.05',
    ...target,
  ])
  expect(started).toMatchObject({ versionId, percent: 10, abort: { maxErrorRate: 0.05 } })
  expect(await cli.json(['rollout', 'hello', '--key', 'execution', ...target])).toMatchObject({
    ...{ versionId, percent: 10, key: 'execution', abort: { maxErrorRate: 0.05 } },
  })
  expect((await cli.run(['rollout', 'hello', ...target])).stdout).toContain('gets 10 % of the runs')
  expect((await cli.run(['rollout', 'hello', '--end', ...target])).code).toBe(0)
  expect((await cli.json(['rollout', 'hello', ...target], { code: 1 })).error.code).toBe('RolloutNotFound')
})

it('names what is wrong', async () => {
  const failed = async (code: number, ...args: string[]) =>
    (await cli.json(['rollout', 'hello', ...args], { code })).error.message
  for (const percent of ['0', '33.333', '1e1', ''])
    expect(await failed(2, '--percent', percent)).toContain(
      'It must be a number from 1 to 100 with at most two decimals.',
    )
  expect(await failed(2, '--percent', '1', '--max-error-rate', '1.5')).toContain('a number from 0 to 1')
  expect(await failed(2, '--percent', '1', '--max-cost-increase', '1001')).toContain('from 0 to 1000')
  expect(await failed(2, '--percent', '1', '--min-runs', '0')).toContain('an integer from 1 to')
  expect(await failed(1, '--percent', '1', '--version', current, '--min-runs', '5')).toContain(
    '--min-runs needs',
  )
  expect(await failed(1, '--key', 'tenant', '--version', current)).toContain('Start one with --percent.')
  for (const option of [
    ['--percent', '1'],
    ['--key', 'tenant'],
    ['--version', current],
  ])
    expect(await failed(2, '--end', ...option)).toContain('cannot be used with')
})
