import { beforeAll, describe, expect, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'

const DOCUMENT = `---
title: Answer
slug: answer
model: openai/gpt-5-mini
input: { question: { type: string } }
output: { answer: { type: string } }
execution: { maxAgentSteps: 8, useCache: true, maxTokens: 5000 }
---
Answer the question.
`

let org: TestOrganization
beforeAll(async () => {
  org = await newOrganization()
  await org.call('POST', '/v1/agents', { body: { document: DOCUMENT } })
})

async function start(query: string): Promise<string> {
  const { status, json } = await org.run('answer', { question: 'Why?' }, `execMode=async&${query}`)
  expect(status, JSON.stringify(json)).toBe(202)
  return json.id
}

const read = async (id: string, query: string) =>
  (await org.call('GET', `/v1/agent_executions/${id}?${query}`)).json

describe('the options of an execution', () => {
  it('are told on request', async () => {
    const id = await start(
      'maxAgentSteps=5&maxTokens=900&maxCostUsd=0.5&useCache=false&useDynamicLearning=true',
    )
    expect((await read(id, 'requestedOptions=true')).requestedOptions).toEqual({
      ...{ maxAgentSteps: 5, maxTokens: 900, maxCostUsd: 0.5 },
      ...{ useCache: false, useDynamicLearning: true },
    })
    expect(await read(id, '')).not.toHaveProperty('requestedOptions')
  })

  it('leave out what the version decided', async () => {
    const id = await start('')
    expect((await read(id, 'requestedOptions=true')).requestedOptions).toEqual({
      useCache: true,
      useDynamicLearning: false,
    })
  })
})
