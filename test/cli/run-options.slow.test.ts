import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { finalAnswer } from '../support/engine/model-agent.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import { startService } from '../support/service/start-service.ts'
import { greeter, inFolder, newCli } from './cli.ts'

const cli = newCli()
let scripted: ScriptedModel
let environment: Record<string, string>

const MODEL_AGENT = `---
title: Asks
description: Asks a model.
input: { question: { type: string } }
output: { answer: { type: string } }
---
Answer the question.
`

beforeAll(async () => {
  scripted = await startScriptedModel()
  environment = scripted.environmentFor('openai-compatible') as Record<string, string>
  const random = 'export default () => ({ said: String(Math.random()) })\n'
  cli.write(inFolder('random', { ...greeter('x'), 'agent.ts': random }))
  cli.write({ 'asks/agent.md': MODEL_AGENT })
  for (const folder of ['random', 'asks']) await cli.json(['publish', folder, '--no-types'])
})
afterAll(async () => {
  await scripted.stop()
  cli.remove()
})

const ask = (options: string[], more: Record<string, string> = environment) =>
  cli.run(['run', 'asks', '--input', '-', ...options], { stdin: '{"question":"Why?"}', environment: more })
const answer = (text: string) => ({ calls: [finalAnswer({ answer: text })] })

describe('run', () => {
  it('uses the model of --model', async () => {
    scripted.script('cli-model', [answer('Because.')])
    const { code, stdout } = await ask(['--model', scripted.modelFor('openai-compatible', 'cli-model')])
    expect([code, JSON.parse(stdout)]).toEqual([0, { answer: 'Because.' }])
    const { code: failed, stderr } = await ask(['--model', 'gpt-5'])
    expect(failed).toBe(1)
    expect(stderr).toContain('The model name "gpt-5" has no known provider.')
  })

  it('limits the steps to --steps', async () => {
    const unknown = { calls: [{ name: 'no_such_tool', input: {} }] }
    scripted.script('cli-steps', () => unknown)
    const model = scripted.modelFor('openai-compatible', 'cli-steps')
    const { code, stderr } = await ask(['--model', model, '--steps', '2'])
    expect(code).toBe(1)
    expect(stderr).toContain('MaxAgentStepsExceeded')
    expect(scripted.requests('cli-steps')).toHaveLength(2)
    const wrong = await ask(['--steps', '501'])
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('1 to 500') })
  })

  it('uses the model settings that the service was started with, but not its keys', async () => {
    scripted.script('service-model', [answer('From the service.'), answer('From the command.')])
    scripted.script('own-model', [answer('From the command.')])
    const DEFAULT_MODEL = scripted.modelFor('openai-compatible', 'service-model')
    const { OPENAI_COMPATIBLE_API_KEY = '' } = environment
    const variables = { ...environment, DEFAULT_MODEL }
    const service = await startService({ dataDir: cli.dataDir, environment: variables })
    onTestFinished(async () => void (await service.stop()))
    const { code, stdout } = await ask([], { OPENAI_COMPATIBLE_API_KEY })
    expect([code, JSON.parse(stdout)]).toEqual([0, { answer: 'From the service.' }])
    const own = { OPENAI_COMPATIBLE_API_KEY, DEFAULT_MODEL: 'openai-compatible/own-model' }
    expect(JSON.parse((await ask([], own)).stdout)).toEqual({ answer: 'From the command.' })
    const file = join(cli.dataDir, 'model-settings.json')
    expect(readFileSync(file, 'utf8')).not.toContain(OPENAI_COMPATIBLE_API_KEY)
    expect(statSync(file).mode & 0o077).toBe(0)
  })
})
