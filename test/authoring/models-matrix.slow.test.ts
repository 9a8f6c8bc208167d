import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { greeter, inFolder } from '../cli/cli.ts'
import { finalAnswer } from '../support/engine/model-agent.ts'
import { CASES, modelAgent, scriptedCases } from './scripted-cases.ts'

const { cli, environmentOf } = await scriptedCases()
const judge = `export default ({ output }: any) => ({ score: output.answer === 'Because.' ? 1 : 0.25, reason: 'R' })\n`

/** Two models, of which the second one gives another answer. */
function write(folder: string) {
  const cases = CASES.replace('expect: { ', 'expect: { scores: { judge: "> 0.5" }, ')
  cli.write(inFolder(`${folder}/asks`, { 'agent.md': modelAgent(), 'cases.yaml': cases }))
  const document = greeter('x')['agent.md'].replace(
    'input: { name',
    'input: { output: { type: object }, name',
  )
  cli.write(
    inFolder(`${folder}/judge`, {
      'agent.md': document
        .replace(/^input: .*$/m, 'input: { output: { type: object } }')
        .replace(/^output: .*$/m, 'output: { score: { type: number }, reason: { type: string } }'),
      'agent.ts': judge,
    }),
  )
  const right = environmentOf([{ calls: [finalAnswer({ answer: 'Because.' })] }])
  const wrong = environmentOf([{ calls: [finalAnswer({ answer: 'So.' })] }])
  const models = [right.DEFAULT_MODEL, 'nowhere/model', wrong.DEFAULT_MODEL, 'openai/gpt-5']
  const environment = { ...right, OPENAI_API_KEY: '', OPENAI_BASE_URL: '' }
  return { environment, models, list: models.join(',') }
}

describe('test --models', () => {
  it('compares models by case, and in total; models that cannot be used end nothing', async () => {
    const { environment, models, list } = write('matrix')
    const { code, stdout } = await cli.run(['test', 'matrix/asks', '--models', list], { environment })
    expect(code).toBe(1)
    const [right, , wrong] = models
    const lines = stdout
      .replaceAll(/\d+ ms/g, '… ms')
      .replaceAll(/ {2,}/g, ' | ')
      .split('\n')
    expect(lines.slice(0, 8)).toEqual([
      'MODEL | PASSED | SCORES | TIME PER RUN | COST',
      `${right} | 1 of 1 | judge 1 | … ms | $0.00002`,
      'nowhere/model | cannot be used | - | - | -',
      `${wrong} | 0 of 1 | judge 0.25 | … ms | $0.00002`,
      'openai/gpt-5 | cannot be used | - | - | -',
      '',
      `CASE | ${right} | ${wrong}`,
      'asks | passed, judge 1, $0.00002, … ms | FAILED, judge 0.25, $0.00002, … ms',
    ])
    expect(stdout).toContain(`\n${wrong}\n✗ asks\n    /answer\n      expected  "Because."\n`)
    expect(stdout).toMatch(/\nnowhere\/model: .* has no known provider\..*\nopenai\/gpt-5: .*OPENAI_API_KEY/)
  })

  it('prints JSON, and writes a report of all models', async () => {
    const { environment, models, list } = write('report')
    const args = ['test', 'report/asks', '--models', list, '--report', 'report.html']
    const report = await cli.json(args, { environment, code: 1 })
    expect(report.models).toMatchObject([
      {
        model: models[0],
        passed: 1,
        failed: 0,
        scores: { judge: 1 },
        costUsd: 0.00002,
        cases: [{ name: 'asks' }],
      },
      { model: 'nowhere/model', problem: expect.any(String) },
      { model: models[2], passed: 0, failed: 1, scores: { judge: 0.25 } },
      { model: 'openai/gpt-5', problem: expect.stringContaining('OPENAI_API_KEY') },
    ])
    const page = readFileSync(join(cli.folder, 'report.html'), 'utf8')
    expect(page).toContain('1 of 2 cases passed with 4 models.')
    for (const model of models) expect(page).toContain(model)
  })

  it('is refused for code agents, and with recordings', async () => {
    cli.write(
      inFolder('code', { ...greeter('Hello'), 'cases.yaml': '- { name: a, input: { name: Ada } }\n' }),
    )
    const { stderr } = await cli.run(['test', 'code', '--no-types', '--models', 'openai/a,openai/b'])
    expect(stderr).toBe('The agent code is a code agent; it does not accept a model.\n')
    const both = await cli.run(['test', 'code', '--models', 'openai/a', '--replay'])
    expect(both.stderr).toContain("'--models <list>' cannot be used with option '--replay'")
  })
})
