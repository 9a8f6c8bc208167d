import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { giveFeedback } from '../../lib/engine/learning/feedback.ts'
import { system } from '../../lib/system.ts'
import { DEVELOPMENT_ORGANIZATION } from '../../local/development.ts'
import { inFolder } from '../cli/cli.ts'
import { finalAnswer, httpTool } from '../support/engine/model-agent.ts'
import type { Script } from '../support/scripted-model/turn.ts'
import { withStores } from '../support/tables/sdk.ts'
import { modelAgent, OFFLINE, scriptedCases } from './scripted-cases.ts'

const { cli, server, environmentOf } = await scriptedCases()
const ID = /execution ([0-9a-f-]{36})/
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'
const answerOf = (answer: string) => ({ calls: [finalAnswer({ answer })] })
const lookUp = (id: string) => ({ name: 'look_up', input: { id } })

const read = (file: string) => readFileSync(join(cli.folder, file), 'utf8')

/** Publishes an agent in the folder of its slug. */
async function publish(slug: string, document: string, more: Record<string, string> = {}) {
  cli.write(inFolder(`agents/${slug}`, { 'agent.md': document, ...more }))
  await cli.json(['publish', `agents/${slug}`, '--no-types'], { environment: environmentOf([]) })
}

type Run = { question: string; correctedOutput?: { answer: string }; note?: string; code?: number }

/** Runs an agent on a script and corrects its output. Returns the id of the execution. */
async function runCorrected(slug: string, script: Script, run: Run, args: string[] = []) {
  const { question, correctedOutput = { answer: 'Corrected.' }, note = null, code = 0 } = run
  const outcome = await cli.run(['run', slug, '--input', '-', '--no-cache', ...args], {
    stdin: JSON.stringify({ question }),
    environment: environmentOf(script),
  })
  expect(outcome).toMatchObject({ code })
  const id = ID.exec(outcome.stderr)?.[1] ?? ''
  const feedback = { rating: -1 as const, correctedOutput, note }
  const given = { organizationId: DEVELOPMENT_ORGANIZATION.id, id, feedback, isReview: true }
  await withStores(cli.dataDir, (stores) => giveFeedback({ ...stores, system }, given))
  return id
}

const add = (slug: string, ...more: string[]) =>
  cli.json(['cases', 'add', slug, '--corrected', '--last', '50', '--yes', ...more])

const replay = (slug: string, code = 0) =>
  cli.json(['test', `agents/${slug}`, '--replay', '--no-types'], { code, environment: OFFLINE })

describe('cases add --corrected', () => {
  const slug = 'asks'
  const tools = [httpTool(server, 'look_up', '/things/{id}')]
  const ids: string[] = []

  beforeAll(async () => {
    await publish(slug, modelAgent(tools))
    ids.push(
      await runCorrected(slug, [{ calls: [lookUp('a'), lookUp('a')] }, answerOf('One.')], {
        question: 'First?',
        note: 'It is wrong.',
      }),
      await runCorrected(slug, [{ calls: [lookUp('b')] }, answerOf('Two.')], {
        question: 'Second?',
        note: 'It is wrong.',
      }),
    )
    await cli.run(['run', slug, '--input', '-'], {
      stdin: JSON.stringify({ question: 'Rated by nobody?' }),
      environment: environmentOf([answerOf('Three.')]),
    })
  })

  it('names the fields that leave the service, and writes nothing without a terminal or a yes', async () => {
    const { code, stderr } = await cli.run(['cases', 'add', slug, '--corrected'])
    expect(code).toBe(1)
    expect(stderr).toBe(`2 corrected executions of asks for agents/asks/cases.yaml.
These fields leave the service with their values:
  input: question
  output: answer
  final_answer, arguments: answer
  look_up, arguments: id
  look_up, result: count, path
  and the texts of models, and notes of the feedback as names.
Known secrets and common formats of credentials are masked; personal data is not.

Write them? Nobody can answer without a terminal: use --yes.
`)
    const no = await cli.run(['cases', 'add', slug, '--corrected'], { stdin: 'no\n', isTerminal: true })
    expect(no).toMatchObject({ code: 1, stdout: 'Nothing was written.\n' })
    expect(no.stderr).toContain('Write them? [y/N]')
    expect(existsSync(join(cli.folder, 'agents/asks/cases.yaml'))).toBe(false)
    expect(existsSync(join(cli.folder, 'agents/asks/recordings'))).toBe(false)
  })

  it('adds corrected executions whose replays repeat them offline, without a call of a tool', async () => {
    const added = await cli.run(['cases', 'add', slug, '--corrected'], { stdin: 'y\n', isTerminal: true })
    expect(added.stdout).toBe(
      'Added 2 cases to agents/asks/cases.yaml.\n\nRun them offline:  npx agent-execution test agents/asks --replay\n',
    )
    const calls = server.calls.length
    const { passed, cases } = await replay(slug)
    expect(passed).toBe(2)
    const [second, first] = cases
    expect(first.name).toBe(`It is wrong. (${ids[0]})`)
    expect(second.runs[0]).toMatchObject({
      output: { answer: 'Two.' },
      failures: [],
      notYetCorrected: [{ pointer: '/answer', expected: 'Corrected.', actual: 'Two.' }],
    })
    expect(server.calls).toHaveLength(calls)
    const text = (await cli.run(['test', 'agents/asks', '--replay', '--no-types'], { environment: OFFLINE }))
      .stdout
    expect(text).toContain('not yet corrected')
    expect(text).toMatch(/\n2 passed\. 2 still give what was corrected\.\n$/)
  })

  it('fails after a change of the agent until it is recorded again, with the correction', async () => {
    cli.write({ 'agents/asks/agent.md': modelAgent(tools, 'Answer the question well.') })
    const changed = await replay(slug, 1)
    expect(changed.cases[0].runs[0].failures[0].message).toContain('Changed: the instructions')
    const environment = environmentOf([answerOf('Corrected.'), answerOf('Corrected.')])
    await cli.json(['test', 'agents/asks', '--record', '--no-types'], { environment })
    const { passed, cases } = await replay(slug)
    expect(passed).toBe(2)
    expect(cases[0].runs[0]).not.toHaveProperty('notYetCorrected')
    expect(read('agents/asks/recordings/it-is-wrong.yaml')).not.toContain('corrected:')
  })
})

describe('the recording of a corrected execution', () => {
  it('has no secrets, and its replay sends the masked texts', async () => {
    const tools = [httpTool(server, 'look_up', '/things/{id}')]
    await publish('leaks', modelAgent(tools))
    await runCorrected('leaks', [{ calls: [lookUp(JWT)] }, answerOf(`It is ${JWT}.`)], {
      question: `What is ${JWT}?`,
    })
    const added = await add('leaks')
    expect(added.agents[0].cases[0]).toMatchObject({
      isRecorded: true,
      input: { question: 'What is [secret token]?' },
    })
    const [name] = added.agents[0].cases.map((each: { name: string }) => each.name.replaceAll(' ', '-'))
    expect(read('agents/leaks/cases.yaml') + read(`agents/leaks/recordings/${name}.yaml`)).not.toContain(JWT)
    expect(await replay('leaks')).toMatchObject({ passed: 1, failed: 0 })
  })
})

describe('the options of cases add', () => {
  it.each([
    [['cases', 'add', 'not-an-id'], 'must be a UUID'],
    [['cases', 'add', 'asks', '--corrected', '--name', 'a'], 'cannot be used with'],
  ])('%j is wrong usage', async (args, message) => {
    const { code, stderr } = await cli.run(args)
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })
})
