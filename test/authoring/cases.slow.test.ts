import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readCases } from '../../authoring/cases/case-file.ts'
import { runCase } from '../../authoring/cases/run-case.ts'
import { trackExecution } from '../../authoring/track-execution.ts'
import { resolveVersion } from '../../lib/agents/resolve-version.ts'
import { giveFeedback } from '../../lib/engine/learning/feedback.ts'
import { system } from '../../lib/system.ts'
import { DEVELOPMENT_ORGANIZATION } from '../../local/development.ts'
import { greeter, inFolder, newCli } from '../cli/cli.ts'
import { withStores } from '../support/tables/sdk.ts'

const cli = newCli()
beforeAll(cli.openDatabase)
afterAll(cli.remove)

const COMMENT = '# Cases of the greeter\n'
const read = () => readFileSync(join(cli.folder, 'agents/hello/cases.yaml'), 'utf8')

beforeAll(async () => {
  const code = `export default ({ name }: { name: string }) => {
  if (name === '') throw new Error('No name.')
  return { said: 'Hi ' + name }
}
`
  cli.write(inFolder('agents/hello', { ...greeter('x'), 'agent.ts': code, 'cases.yaml': COMMENT }))
  await cli.json(['publish', 'agents/hello', '--no-types'])
})

/** Runs the agent. Returns the id of the execution. */
async function run(input: string, code = 0): Promise<string> {
  const outcome = await cli.run(['run', 'hello', '--input', '-'], { stdin: input })
  expect(outcome.code).toBe(code)
  return /execution ([0-9a-f-]{36})/.exec(outcome.stderr)?.[1] ?? ''
}

/** Runs the first case of a folder on a version, as `dev` does. */
const runCaseOn = (id: string, folder: string) =>
  withStores(cli.dataDir, async (stores) => {
    const organizationId = DEVELOPMENT_ORGANIZATION.id
    const reference = { store: stores.agents, organizationId, idOrSlug: 'waits' }
    const { version } = await resolveVersion({ ...reference, versionId: id, run: null })
    const [testCase] = (await readCases(join(cli.folder, folder))).cases
    if (!testCase) throw new Error('There is no case.')
    const tracked = trackExecution(stores, organizationId)
    const params = { stores: tracked.stores, version, testCase, model: null, environment: process.env }
    const { failures } = await runCase(params)
    return { passed: failures.length === 0, executionId: tracked.getId() ?? '' }
  })

async function correct(
  id: string,
  feedback: { rating: 1 | -1; correctedOutput: { said: string } | null; note: string | null },
) {
  const given = { organizationId: DEVELOPMENT_ORGANIZATION.id, id, feedback, isReview: true }
  await withStores(cli.dataDir, (stores) => giveFeedback({ ...stores, system }, given))
}

describe('cases add', () => {
  it('expects what a run returned, and sends its input as it was sent', async () => {
    const id = await run('{"name": "Ada", "extra": 12345678901234567890}')
    const added = await cli.json(['cases', 'add', id, '--name', 'greets Ada'])
    expect(added).toMatchObject({ name: 'greets Ada', expect: { equals: { said: 'Hi Ada' } } })
    expect(read()).toBe(`${COMMENT}\n- name: greets Ada
  input:
    name: Ada
    extra: 12345678901234567890
  expect:
    equals:
      said: Hi Ada
`)
  })

  it('expects the corrected output, and takes the note as its name', async () => {
    const id = await run('{"name": "Bo"}')
    await correct(id, {
      rating: -1,
      correctedOutput: { said: 'Hi, Bo!' },
      note: 'Punctuation is missing.\nMore.',
    })
    expect((await cli.run(['cases', 'add', id])).stdout).toMatch(
      /^Added the case "Punctuation is missing\." to agents\/hello\/cases\.yaml\./,
    )
    const { stdout } = await cli.run(['test', 'agents/hello'])
    expect(stdout).toContain(
      '✗ Punctuation is missing.\n    /said\n      expected  "Hi, Bo!"\n      actual    "Hi Bo"\n',
    )
  })

  it('adds nothing twice, and nothing of a run that was rated as wrong without a correction', async () => {
    const before = read()
    const id = await run('{"name": "Cy"}')
    expect(await cli.json(['cases', 'add', id, '--name', 'greets Ada'], { code: 1 })).toMatchObject({
      error: { message: 'Adding a case failed: 1 problem.' },
    })
    await correct(id, { rating: -1, correctedOutput: null, note: null })
    expect((await cli.run(['cases', 'add', id])).stderr).toBe(
      'The execution was rated as wrong and has no corrected output: add one to its feedback.\n',
    )
    expect((await cli.run(['cases', 'add', id, '--folder', 'nowhere'])).code).toBe(1)
    expect(read()).toBe(before)
  })

  it('answers what the run waited for as it was answered', async () => {
    const code = `export default async (_: unknown, context: {
  waitForApproval: (name: string, options: object) => Promise<{ decision: string }>
  waitForAny: (name: string, options: object) => Promise<{ data: string } | null>
}) => {
  const { decision } = await context.waitForApproval('refund', { title: 'Refund?' })
  const paid = await context.waitForAny('money', { signals: ['paid', 'lost'] })
  return { said: decision + paid?.data + (await context.waitForAny('more', { signals: ['paid'] }))?.data }
}
`
    const given = 'approvals: { refund: { decision: reject, note: no } }, signals: { lost: [a], paid: [b] }'
    const cases = `- { name: waits, input: { name: Ada }, ${given}, expect: { equals: { said: rejectab } } }\n`
    cli.write(inFolder('agents/waits', { ...greeter('x'), 'agent.ts': code, 'cases.yaml': cases }))
    const { versionId } = await cli.json(['publish', 'agents/waits', '--no-types', '--draft'])
    const { passed, executionId } = await runCaseOn(versionId, 'agents/waits')
    expect(passed).toBe(true)
    expect(
      await cli.json(['cases', 'add', executionId, '--name', 'again', '--folder', 'agents/waits']),
    ).toMatchObject({
      approvals: { refund: { decision: 'reject', note: 'no' } },
      signals: { lost: ['a'], paid: ['b'] },
    })
    expect(await cli.json(['test', 'agents/waits', '--no-types'])).toMatchObject({ passed: 2, failed: 0 })
  })
})
