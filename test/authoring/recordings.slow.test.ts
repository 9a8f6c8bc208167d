import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { inFolder } from '../cli/cli.ts'
import { finalAnswer, httpTool } from '../support/engine/model-agent.ts'
import { serveMcp } from '../tools/kinds/mcp-server.ts'
import { CASES, modelAgent, OFFLINE, scriptedCases } from './scripted-cases.ts'

const { cli, server, environmentOf } = await scriptedCases()

describe('--record and --replay', () => {
  const lookUp = (id: string) => ({ name: 'look_up', input: { id } })
  const answer = { calls: [finalAnswer({ answer: 'Because.' })] }

  it('does not pass an expected error that is only a missing recording', async () => {
    const cases = '- { name: refuses, input: { question: Why? }, expect: { error: ModelFailed } }\n'
    cli.write(inFolder('missing', { 'agent.md': modelAgent(), 'cases.yaml': cases }))
    expect(await cli.json(['test', 'missing', '--replay'], { code: 1, environment: OFFLINE })).toMatchObject({
      failed: 1,
    })
  })

  it('runs the agents that an agent calls, and records their models, also in parallel', async () => {
    const asks = modelAgent([{ name: 'ask', agent: 'callee' }])
    cli.write({ 'callee/agent.md': modelAgent([httpTool(server, 'look_up', '/things/{id}')]) })
    cli.write(inFolder('caller', { 'agent.md': asks, 'cases.yaml': CASES }))
    const ask = { name: 'ask', input: { question: 'How?' } }
    let requests = 0
    const environment = environmentOf(({ history, tools }) => {
      const hasResult = history.some(({ type }) => type === 'result')
      if (tools.some(({ name }) => name === 'ask')) return hasResult ? answer : { calls: [ask, ask, ask] }
      // The answers of the three callees would differ if each asked the model itself.
      return hasResult
        ? { calls: [finalAnswer({ answer: `Thing ${++requests}` })] }
        : { calls: [lookUp('x')] }
    })
    await cli.json(['test', 'caller', '--record'], { environment })
    const { cases } = await cli.json(['test', 'caller', '--replay', '--repeat', '10'], {
      environment: OFFLINE,
    })
    expect(cases[0]).toMatchObject({ passed: true, runs: Array(10).fill({ failures: [] }) })
  })

  it('decides on the calls of tools that need an approval', async () => {
    const tools = [{ ...httpTool(server, 'look_up', '/things/{id}'), approval: true }]
    const expected = 'expect: { equals: { answer: Because. } }'
    const cases = [
      'approvals: { look_up: [approve, { decision: reject, note: no }] }',
      'approvals: { look_up: [{ decision: approve, input: { id: c } }, timeout] }',
      'approvals: { look_up: { decision: approve, input: { id: 3 } } }',
    ].map((given, index) => `- { name: c${index}, input: { question: Why? }, ${given}, ${expected} }\n`)
    cli.write(inFolder('approved', { 'agent.md': modelAgent(tools), 'cases.yaml': cases.join('') }))
    const environment = environmentOf(({ history }) =>
      history.some(({ type }) => type === 'result') ? answer : { calls: [lookUp('a'), lookUp('b')] },
    )
    const calls = server.calls.length
    const recorded = await cli.json(['test', 'approved', '--record'], { environment, code: 1 })
    expect(recorded.cases.map(({ passed }: { passed: boolean }) => passed)).toEqual([true, true, false])
    expect(recorded.cases[2].runs[0].failures).toEqual([
      {
        pointer: '',
        message: expect.stringMatching(
          /^the approval "look_up" refuses what the case answers: \/input\/id must be a string/,
        ),
      },
    ])
    expect(
      server.calls
        .slice(calls)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['/things/a', '/things/c'])
    const replayed = ['test', 'approved', '--replay', '--case', 'c0', '--case', 'c1', '--repeat', '2']
    expect(await cli.json(replayed, { environment: OFFLINE })).toMatchObject({ passed: 2, failed: 0 })
  })

  it('replays the tools of an MCP server without connecting to it', async () => {
    const mcp = await serveMcp()
    const tools = [{ name: 'crm', mcp: { url: mcp.url, allowedHosts: [mcp.host] } }]
    cli.write(inFolder('mcp', { 'agent.md': modelAgent(tools), 'cases.yaml': CASES }))
    const find = { calls: [{ name: 'crm_find_customer', input: { name: 'Ada' } }] }
    await cli.json(['test', 'mcp', '--record'], { environment: environmentOf([find, answer]) })
    const requests = mcp.seen.length
    expect(await cli.json(['test', 'mcp', '--replay'], { environment: OFFLINE })).toMatchObject({ passed: 1 })
    expect(mcp.seen).toHaveLength(requests)
    expect(readFileSync(join(cli.folder, 'mcp/recordings/asks.yaml'), 'utf8')).toContain('found Ada')
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
