import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { inFolder, newCli } from '../cli/cli.ts'
import { finalAnswer, httpTool } from '../support/engine/model-agent.ts'
import { answer as answerRequest, aRemote } from '../support/engine/remote-run.ts'
import { CASES, modelAgent, OFFLINE, scriptedCases } from './scripted-cases.ts'

describe('recordings', async () => {
  const { cli, server, environmentOf } = await scriptedCases()

  describe('--record and --replay', () => {
    const lookUp = (id: string) => ({ name: 'look_up', input: { id } })
    const answer = { calls: [finalAnswer({ answer: 'Because.' })] }

    it('runs the agents that an agent calls, each on its own journal, also in parallel', async () => {
      const asks = modelAgent([{ name: 'ask', agent: 'callee' }])
      const callee = [httpTool(server, 'look_up', '/things/{id}')]
      cli.write({ 'callee/agent.md': modelAgent(callee) })
      cli.write(inFolder('caller', { 'agent.md': asks, 'cases.yaml': CASES }))
      const ask = { name: 'ask', input: { question: 'How?' } }
      let requests = 0
      const environment = environmentOf(({ history, tools }) => {
        const hasResult = history.some(({ type }) => type === 'result')
        if (tools.some(({ name }) => name === 'ask')) return hasResult ? answer : { calls: [ask, ask, ask] }
        // Equal requests of the three callees get different answers.
        return hasResult
          ? { calls: [finalAnswer({ answer: `Thing ${++requests}` })] }
          : { calls: [lookUp('x')] }
      })
      await cli.json(['test', 'caller', '--record'], { environment })
      const { cases } = await cli.json(['test', 'caller', '--replay', '--repeat', '10'], {
        environment: OFFLINE,
      })
      expect(cases[0]).toMatchObject({ passed: true, runs: Array(10).fill({ failures: [] }) })
      const text = readFileSync(join(cli.folder, 'caller/recordings/asks.yaml'), 'utf8')
      expect(new Set(text.match(/Thing \d/g))).toEqual(new Set(['Thing 1', 'Thing 2', 'Thing 3']))
      cli.write({ 'callee/agent.md': modelAgent(callee, 'Answer briefly.') })
      const changed = await cli.run(['test', 'caller', '--replay'], { environment: OFFLINE })
      expect(changed.stdout).toContain('Changed: the instructions.')
    })

    it('records a refusal, but no temporary error', async () => {
      const cases = CASES.replace('{ pointers: { /answer: Because. } }', '{ error: ModelFailed }')
      cli.write(inFolder('errors', { 'agent.md': modelAgent(), 'cases.yaml': cases }))
      const script = [
        { status: 503, headers: { 'retry-after': '0' } },
        { status: 400, message: 'Bad request' },
      ]
      await cli.json(['test', 'errors', '--record'], { environment: environmentOf(script) })
      const text = readFileSync(join(cli.folder, 'errors/recordings/asks.yaml'), 'utf8')
      expect(text.match(/error:/g)).toHaveLength(1)
      expect(await cli.json(['test', 'errors', '--replay'], { environment: OFFLINE })).toMatchObject({
        passed: 1,
      })
    })

    it('records the answer of a remote agent, which then is not asked', async () => {
      const remote = await aRemote((response, { body }) =>
        answerRequest(response, { words: String(body.input.text).split(' ').length }),
      )
      await cli.json(['init', 'count-remote', '--remote'])
      const file = join(cli.folder, 'agents/count-remote/agent.md')
      const text = readFileSync(file, 'utf8').replaceAll('localhost:8000', remote.host)
      cli.write({ 'agents/count-remote/agent.md': text })
      expect(await cli.json(['test', 'agents/count-remote', '--record'])).toMatchObject({ passed: 1 })
      expect(await cli.json(['test', 'agents/count-remote', '--replay'])).toMatchObject({ passed: 1 })
      expect(remote.asked).toHaveLength(1)
      expect(remote.asked[0]?.headers['webhook-signature']).toMatch(/^v1,/)
      const cases = readFileSync(join(cli.folder, 'agents/count-remote/cases.yaml'), 'utf8')
      cli.write({ 'agents/count-remote/cases.yaml': cases.replace('To be', 'To see') })
      const changed = await cli.run(['test', 'agents/count-remote', '--replay'])
      expect(changed.stdout).toContain('No recording for this input of the remote agent.')
    })

    it('refuses a recording in the format of earlier versions', async () => {
      const old = 'case: asks\nresponses: []\ncalls: []\n'
      cli.write(
        inFolder('old', { 'agent.md': modelAgent(), 'cases.yaml': CASES, 'recordings/asks.yaml': old }),
      )
      const { code, stderr } = await cli.run(['test', 'old', '--replay'], { environment: OFFLINE })
      expect(code).toBe(1)
      expect(stderr).toContain('recordings/asks.yaml has an earlier format. Record it again with --record.')
    })

    it('keeps the recording of a case whose new run fails, and deletes those of removed cases', async () => {
      cli.write(inFolder('kept', { 'agent.md': modelAgent(), 'cases.yaml': CASES.replace('asks', 'old') }))
      await cli.json(['test', 'kept', '--record'], { environment: environmentOf([answer]) })
      cli.write({ 'kept/cases.yaml': CASES })
      await cli.json(['test', 'kept', '--record'], { environment: environmentOf([answer]) })
      const before = readFileSync(join(cli.folder, 'kept/recordings/asks.yaml'), 'utf8')
      expect(existsSync(join(cli.folder, 'kept/recordings/old.yaml'))).toBe(false)
      const wrong = { calls: [finalAnswer({ answer: 'No.' })] }
      await cli.json(['test', 'kept', '--record'], { code: 1, environment: environmentOf([wrong]) })
      expect(readFileSync(join(cli.folder, 'kept/recordings/asks.yaml'), 'utf8')).toBe(before)
    })
  })
})

describe('transcript', () => {
  const PAGE = fileURLToPath(new URL('../../docs/authoring.md', import.meta.url))

  const cli = newCli('.local')
  mkdirSync(cli.dataDir)
  afterAll(cli.remove)

  /** `$ echo '{…}' | npx agent-execution run …`, and the output below it. */
  const COMMAND =
    /^\$ (?:echo '(?<stdin>.*)' \| )?npx agent-execution (?<args>.*)\n(?<output>(?:(?!\$ ).*\n)*)/gm

  /** Ids, times and the widths that depend on them differ from run to run. */
  const normalize = (text: string) =>
    text
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
      .replaceAll(/\d+ ms/g, '… ms')
      .replaceAll(/ +/g, ' ')

  it('prints what docs/authoring.md says, from init to a published agent in five commands', async () => {
    const [, transcript = ''] = /^```console\n([\s\S]*?)^```/m.exec(readFileSync(PAGE, 'utf8')) ?? []
    const commands = [...transcript.matchAll(COMMAND)]
    expect(commands.map(({ groups }) => groups?.args?.split(' ')[0])).toEqual([
      'init',
      'check',
      'run',
      'test',
      'publish',
    ])
    for (const { groups: { stdin = '', args = '', output = '' } = {} } of commands) {
      const { code, stdout } = await cli.run(args.split(' '), { stdin })
      expect({ args, code }).toEqual({ args, code: 0 })
      const [expected = '', isCut] = normalize(output).split('…\n')
      const printed = normalize(stdout)
      expect(isCut === undefined ? printed : printed.slice(0, expected.length)).toBe(expected)
    }
  })
})
