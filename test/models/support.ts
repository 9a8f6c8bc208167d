import { randomUUID } from 'node:crypto'
import { afterAll } from 'vitest'
import type { Json } from '../../lib/core/json/json.ts'
import type { Model, ModelRequest } from '../../lib/core/model.ts'
import { openModel } from '../../lib/models/open-model.ts'
import type { Provider } from '../../lib/models/providers/providers.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import type { Script } from '../support/scripted-model/turn.ts'

export const ADD = {
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
}

/** Starts the scripted server of a test file. */
export async function useScriptedModel(): Promise<ScriptedModel> {
  const server = await startScriptedModel()
  afterAll(() => server.stop())
  return server
}

/** Opens a model with its own script. `family`: what its id, which names the script, begins with. */
export async function openScripted(
  server: ScriptedModel,
  format: Provider,
  script: Script,
  { family = 'script', ...options }: Parameters<typeof openModel>[2] & { family?: string } = {},
) {
  const id = `${family}-${randomUUID()}`
  server.script(id, script)
  const model = await openModel(server.modelFor(format, id), server.environmentFor(format), options)
  return { id, model, requests: () => server.requests(id) }
}

export function requestOf(model: Model, overrides: Partial<ModelRequest> = {}): ModelRequest {
  return {
    instructions: 'Be brief.',
    messages: [model.userMessage('What is 1 + 2?')],
    tools: [ADD],
    signal: new AbortController().signal,
    ...overrides,
  }
}

export const throughJson = <T extends Json>(value: T): T => JSON.parse(JSON.stringify(value))
