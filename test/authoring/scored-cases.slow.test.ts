import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { greeter, inFolder } from '../cli/cli.ts'
import { finalAnswer } from '../support/engine/model-agent.ts'
import { modelAgent, OFFLINE, scriptedCases } from './scripted-cases.ts'

const { cli, environmentOf } = await scriptedCases()

const scorerDocument = (isCode: boolean, fields = ['output'], instructions = 'Score the output.') =>
  `---\n${JSON.stringify({
    title: 'Scores',
    ...(isCode && { code: true }),
    input: Object.fromEntries(fields.map((name) => [name, { type: 'object', required: name === 'output' }])),
    output: { type: 'object', properties: { score: {}, reason: { type: 'string' } } },
  })}\n---\n${instructions}\n`

/** A scorer in code. */
const scorer = (code: string, fields?: string[]) => ({
  'agent.md': scorerDocument(true, fields),
  'agent.ts': `export default (input: any): any => ${code}\n`,
})

const caseOf = (condition: string, slug = 'score', expected = '') =>
  `- { name: greets, input: { name: Ada }, expect: { ${expected}scores: { ${slug}: "${condition}" } } }\n`

const testGreeter = async (folder: string, code: string, cases: string, fields?: string[]) => {
  cli.write(inFolder(`${folder}/hello`, { ...greeter('Hello'), 'cases.yaml': cases }))
  if (code) cli.write(inFolder(`${folder}/score`, scorer(code, fields)))
  return cli.run(['test', `${folder}/hello`, '--no-types'])
}

describe('a case with scores', () => {
  it('passes or fails by the score, and says why', async () => {
    const code = "({ score: input.output.said === 'Hello Ada' ? 0.75 : 0, reason: 'It is curt.' })"
    const passed = await testGreeter('scored', code, caseOf('>= 0.75'))
    expect(passed.stdout).toMatch(/^CASE +RESULT +SCORES +STEPS .*\ngreets +passed +score 0\.75 /)
    const failed = await testGreeter('scored', code, caseOf('> 0.75'))
    expect(failed.code).toBe(1)
    expect(failed.stdout).toContain('    the score of score is 0.75, expected > 0.75: It is curt.\n')
  })

  it('gives the scorer what its schema declares, and the expected output', async () => {
    const code = '({ score: 1, reason: JSON.stringify(input) })'
    const fields = ['output', 'input', 'expected']
    await testGreeter('given', code, caseOf('>= 0', 'score', 'matches: { said: Hello Ada }, '), fields)
    const { cases } = await cli.json(['test', 'given/hello', '--no-types'])
    expect(JSON.parse(cases[0].runs[0].scores.score.reason)).toEqual({
      input: { name: 'Ada' },
      output: { said: 'Hello Ada' },
      expected: { said: 'Hello Ada' },
    })
  })

  it.each([
    [
      "{ throw new Error('Out of order.') }",
      'the scorer score failed: the run failed with AgentFailed: Out of order.',
    ],
    [
      '({ score: 1.5 })',
      'the scorer score failed: The output of a scorer must have a number from 0 to 1 as score, which is 1.5.',
    ],
    ['', 'the scorer score failed: it is neither in a folder next to the agent, nor published'],
  ])('fails if the scorer fails: %s', async (code, message) => {
    const { code: exit, stdout } = await testGreeter(`failing-${code.length}`, code, caseOf('>= 0'))
    expect(exit).toBe(1)
    expect(stdout).toContain(message)
  })

  it('is not scored if the agent has failed', async () => {
    const agent = { ...greeter('x'), 'agent.ts': "export default (): never => { throw new Error('No.') }\n" }
    cli.write(inFolder('no-output/hello', { ...agent, 'cases.yaml': caseOf('>= 0') }))
    const { stdout } = await cli.run(['test', 'no-output/hello', '--no-types'])
    expect(stdout).toContain('the run failed with AgentFailed: No.')
    expect(stdout).not.toContain('scorer')
  })

  it('uses the published scorer if no folder has it', async () => {
    cli.write(inFolder('elsewhere/grade', scorer("({ score: 0.5, reason: 'Published.' })")))
    await cli.json(['publish', 'elsewhere/grade', '--no-types'])
    const { stdout } = await testGreeter('lonely', '', caseOf('> 0.5', 'grade'))
    expect(stdout).toContain('the score of grade is 0.5, expected > 0.5: Published.')
  })

  it('records the scorer, and replays it without a model until it changes', async () => {
    const cases = '- { name: asks, input: { question: Why? }, expect: { scores: { judge: ">= 0.5" } } }\n'
    cli.write(inFolder('recorded/asks', { 'agent.md': modelAgent(), 'cases.yaml': cases }))
    cli.write(inFolder('recorded/judge', { 'agent.md': scorerDocument(false) }))
    const environment = environmentOf([
      { calls: [finalAnswer({ answer: 'Because.' })] },
      { calls: [finalAnswer({ score: 0.25, reason: 'Too short.' })] },
      { calls: [finalAnswer({ answer: 'Because.' })] },
      { calls: [finalAnswer({ score: 0.75, reason: 'Good.' })] },
    ])
    await cli.json(['test', 'recorded/asks', '--record'], { environment, code: 1 })
    expect(existsSync(join(cli.folder, 'recorded/asks/recordings'))).toBe(false)
    await cli.json(['test', 'recorded/asks', '--record'], { environment })
    const { cases: replayed } = await cli.json(['test', 'recorded/asks', '--replay'], {
      environment: OFFLINE,
    })
    expect(replayed[0].runs[0].scores).toEqual({
      judge: { score: 0.75, reason: 'Good.', error: null, costUsd: null },
    })
    cli.write(inFolder('recorded/judge', { 'agent.md': scorerDocument(false, ['output'], 'Be strict.') }))
    const { stdout } = await cli.run(['test', 'recorded/asks', '--replay'], { environment: OFFLINE })
    expect(stdout).toContain('the scorer judge failed: The request has changed since it was recorded.')
    expect(stdout).toContain('Changed: the instructions.')
  })

  it('records the scorer of a code agent', async () => {
    cli.write(inFolder('code/hello', { ...greeter('Hello'), 'cases.yaml': caseOf('> 0', 'judge') }))
    cli.write(inFolder('code/judge', { 'agent.md': scorerDocument(false) }))
    const environment = environmentOf([{ calls: [finalAnswer({ score: 1, reason: 'Good.' })] }])
    const args = ['test', 'code/hello', '--no-types']
    await cli.json([...args, '--record'], { environment })
    expect(await cli.json([...args, '--replay'], { environment: OFFLINE })).toMatchObject({
      scores: { judge: 1 },
    })
  })
})
