import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { greeter, inFolder } from '../cli/cli.ts'
import { finalAnswer, httpTool } from '../support/engine/model-agent.ts'
import { KEY } from '../support/scripted-model/start-scripted-model.ts'
import { CASES, modelAgent, OFFLINE, scriptedCases } from './scripted-cases.ts'

const { cli, server, environmentOf } = await scriptedCases()

const withCases = (cases: string, files: Record<string, string> = greeter('Hello')) => ({
  ...files,
  'cases.yaml': cases,
})

describe('test', () => {
  it('compares outputs, parts of them, and values at JSON Pointers', async () => {
    const cases = `
- { name: equals, input: { name: Ada }, expect: { equals: { said: Hello Ada } } }
- { name: matches, input: { name: Ada }, expect: { matches: {} } }
- { name: pointer, input: { name: Ada }, expect: { pointers: { /said: Hello Ada } } }
- { name: schema, input: { name: Ada }, expect: { pointers: { /said: { pattern: "^Hello" } } } }
- { name: succeeds, input: { name: Ada } }
`
    cli.write(inFolder('passes', withCases(cases)))
    const { code, stdout } = await cli.run(['test', 'passes', '--no-types'])
    expect({ code, stdout: stdout.replaceAll(/\d+ ms/g, '… ms').replaceAll(/ +/g, ' ') }).toEqual({
      code: 0,
      stdout: [
        'CASE RESULT STEPS TIME COST',
        ...['equals', 'matches', 'pointer', 'schema', 'succeeds'].map((name) => `${name} passed 0 … ms -`),
        '',
        '5 passed.',
        '',
      ].join('\n'),
    })
    expect(existsSync(cli.dataDir)).toBe(false)
  })

  it('prints expected and actual values by JSON Pointer, and fails', async () => {
    const cases = `
- { name: equals, input: { name: Ada }, expect: { equals: { said: Bye Ada, more: [1] } } }
- { name: schema, input: { name: Ada }, expect: { pointers: { /said: { pattern: "^Bye" }, /gone/0: 1 } } }
- { name: error, input: { name: Ada }, expect: { error: AgentFailed } }
- { name: passes, input: { name: Ada } }
`
    cli.write(inFolder('fails', withCases(cases)))
    const { code, stdout } = await cli.run(['test', 'fails', '--no-types'])
    expect(code).toBe(1)
    expect(stdout.slice(stdout.indexOf('✗'))).toBe(`✗ equals
    /said
      expected  "Bye Ada"
      actual    "Hello Ada"
    /more
      expected  [1]
      actual    (nothing)

✗ schema
    /said must match the pattern ^Bye.
      actual    "Hello Ada"
    /gone/0
      expected  1
      actual    (nothing)

✗ error
    expected the error AgentFailed, but the run succeeded
      actual    {"said":"Hello Ada"}

3 failed, 1 passed.
`)
    const report = await cli.json(
      ['test', 'fails', '--no-types', '--case', 'equals', '--case', 'passes', '--repeat', '2'],
      { code: 1 },
    )
    expect(report).toMatchObject({ passed: 1, failed: 1, cases: [{ name: 'equals', passed: false }, {}] })
    expect(report.cases[0].runs).toHaveLength(2)
    expect(report.cases[0].runs[0]).toMatchObject({
      output: { said: 'Hello Ada' },
      failures: [{ pointer: '/said', expected: 'Bye Ada', actual: 'Hello Ada' }, { pointer: '/more' }],
    })
  })

  it('passes the error that a case expects, and no other', async () => {
    const cases = `
- { name: right, input: { name: Ada }, expect: { error: AgentFailed } }
- { name: wrong, input: { name: Ada }, expect: { error: TimedOut } }
- { name: unexpected, input: { name: Ada } }
`
    const agent = {
      ...greeter('x'),
      'agent.ts': "export default (): never => { throw new Error('No luck.') }\n",
    }
    cli.write(inFolder('throws', withCases(cases, agent)))
    const { stdout } = await cli.run(['test', 'throws', '--no-types'])
    expect(stdout).toContain('expected the error TimedOut, but the run failed with AgentFailed: No luck.')
    expect(stdout).toContain('    the run failed with AgentFailed: No luck.')
    expect(stdout).toContain('2 failed, 1 passed.')
    const { error } = await cli.json(['test', 'throws', '--case', 'rihgt'], { code: 1 })
    expect(error.message).toBe('There is no case "rihgt". The cases are: "right", "wrong", "unexpected".')
  })
})

describe('a tool that fails', () => {
  const lookUp = { calls: [{ name: 'look_up', input: { id: 'a' } }] }
  const answer = { calls: [finalAnswer({ answer: 'Because.' })] }
  const script = [lookUp, lookUp, answer]
  const headers = { Authorization: `Bearer $\{secret:SHOP_KEY}` }
  const message = 'the tool look_up failed: Secret SHOP_KEY not found.'
  const allow = '(expect.tools: { look_up: may-fail } allows it)'

  const write = (folder: string, expect = '') => {
    const tool = httpTool(server, 'look_up', '/things/{id}')
    const tools = [{ ...tool, http: { ...tool.http, headers } }]
    const cases = `- { name: asks, input: { question: Why? }, expect: { equals: { answer: Because. }${expect} } }\n`
    cli.write(inFolder(folder, { 'agent.md': modelAgent(tools), 'cases.yaml': cases }))
  }

  it('fails the case once for each error', async () => {
    write('failing-tool')
    const { code, stdout } = await cli.run(['test', 'failing-tool'], { environment: environmentOf(script) })
    expect(code).toBe(1)
    expect(stdout).toContain(`✗ asks\n    ${message} ${allow}\n\n1 failed, 0 passed.\n`)
    const environment = { ...environmentOf(script), SHOP_KEY: 'key-of-the-shop' }
    expect(await cli.json(['test', 'failing-tool'], { environment })).toMatchObject({ passed: 1 })
  })

  it('passes if expect.tools says so, also in a replay', async () => {
    write('allowed', `, tools: { look_up: may-fail }`)
    const recorded = ['test', 'allowed', '--record']
    const report = await cli.json(recorded, { environment: environmentOf(script) })
    expect(report.cases[0].runs[0].failedCalls).toEqual(
      Array(2).fill({ tool: 'look_up', error: 'Secret SHOP_KEY not found.' }),
    )
    expect(await cli.json(['test', 'allowed', '--replay'], { environment: OFFLINE })).toMatchObject({
      passed: 1,
    })
  })
})

describe('--record and --replay', () => {
  const lookUp = (id: string) => ({ name: 'look_up', input: { id } })
  const answer = { calls: [finalAnswer({ answer: 'Because.' })] }

  it('replays responses and tool results without a model or a network', async () => {
    const tools = [httpTool(server, 'look_up', '/things/{id}')]
    cli.write(inFolder('tools', { 'agent.md': modelAgent(tools), 'cases.yaml': CASES }))
    // Parallel calls with the same input get different results; both are recorded.
    const script = [{ calls: [lookUp('a'), lookUp('b'), lookUp('a')] }, answer]
    const environment = environmentOf(script)
    const recorded = await cli.json(['test', 'tools', '--record'], { environment })
    expect(recorded.cases[0].runs[0]).toMatchObject({ steps: 2, costUsd: 0.00004 })
    const calls = server.calls.length
    const replayed = await cli.json(['test', 'tools', '--replay', '--repeat', '5'], { environment: OFFLINE })
    expect(replayed).toMatchObject({ passed: 1, failed: 0 })
    // At the prices of now.
    const { MODEL_PRICES = '' } = environment
    const priced = await cli.json(['test', 'tools', '--replay'], {
      environment: { ...OFFLINE, MODEL_PRICES },
    })
    expect(priced.cases[0].runs[0]).toMatchObject({ steps: 2, costUsd: 0.00004 })
    const [first, ...others] = replayed.cases[0].runs.map(
      ({ durationMs: _, ...run }: { durationMs: number }) => run,
    )
    expect(others).toEqual([first, first, first, first])
    expect(server.calls).toHaveLength(calls)
    const text = readFileSync(join(cli.folder, 'tools/recordings/asks.yaml'), 'utf8')
    expect(text).not.toContain(KEY)
    expect(text.match(/path: \/things\/a/g)).toHaveLength(2)
  })
})

describe('publish --test', () => {
  it('publishes only what passes', async () => {
    cli.write(
      inFolder(
        'gate',
        withCases('- { name: greets, input: { name: Ada }, expect: { equals: { said: Bye Ada } } }\n'),
      ),
    )
    const { code, stderr } = await cli.run(['publish', 'gate', '--test', '--no-types'])
    expect(code).toBe(1)
    expect(stderr).toContain('    /said\n      expected  "Bye Ada"\n      actual    "Hello Ada"\n')
    expect(stderr).toMatch(/\nPublish failed: not all cases pass\.\n$/)
    expect(await cli.json(['list'])).toEqual([])
    cli.write({
      'gate/cases.yaml':
        '- { name: greets, input: { name: Ada }, expect: { equals: { said: Hello Ada } } }\n',
    })
    expect(await cli.json(['publish', 'gate', '--test', '--no-types'])).toMatchObject({
      slug: 'gate',
      status: 'PUBLISHED',
    })
  })

  it('needs cases', async () => {
    cli.write(inFolder('untested', greeter('x')))
    expect((await cli.run(['publish', 'untested', '--test', '--no-types'])).stderr).toBe(
      'Publish failed: untested has no cases in cases.yaml.\n',
    )
  })
})
