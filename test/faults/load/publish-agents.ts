import { fileURLToPath } from 'node:url'
import { parseDocument } from '../../../lib/agents/document/parse-document.ts'
import { publishAgent } from '../../../lib/agents/lifecycle/publish-agent.ts'
import { type LoadedAgent, loadFolder } from '../../../lib/agents/load-folder.ts'
import { agentStore } from '../../../lib/dynamodb/agent-store.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import type { ModelAndTools } from './model-and-tools.ts'
import { MODEL_AGENT } from './workload.ts'

const FIXTURES = new URL('../../fixtures/agents/', import.meta.url)

type Agent = Parameters<typeof publishAgent>[0]['agent']

export async function publishAgents(table: Table, organizationId: string, agents: Agent[]): Promise<void> {
  const store = agentStore(table)
  for (const agent of agents)
    await publishAgent({ store, system, organizationId, createdBy: organizationId, agent, draft: false })
}

/** An agent of `test/fixtures/agents`. */
export async function loadFixture(slug: string): Promise<LoadedAgent> {
  const { agent, problems } = await loadFolder(fileURLToPath(new URL(slug, FIXTURES)))
  if (!agent) throw new Error(JSON.stringify(problems))
  return agent
}

/** The model agent that runs on the scripted model and calls its tool. */
export function loadModelAgent(models: ModelAndTools): Agent {
  const { document } = parseDocument(modelAgent(models), MODEL_AGENT)
  if (!document) throw new Error('The model agent of the harness is invalid.')
  return { document, code: null }
}

const modelAgent = ({ model, toolHost }: ModelAndTools) => `---
title: Looking up
description: Looks values up and adds them up.
model: ${model}
input:
  marker: { type: string, description: Identifies the run. }
  steps: { type: integer, description: How many model responses it takes. }
  parallel: { type: integer, description: How many values it looks up at a time. }
output:
  marker: { type: string, description: The marker of the input. }
  total: { type: integer, description: The sum of the values. }
tools:
  - name: look_up
    description: Looks a value up.
    input:
      marker: { type: string, description: Identifies the run. }
      step: { type: integer, description: The number of the model response. }
      call: { type: integer, description: The number of the call in this response. }
    http: { method: GET, url: "http://${toolHost}/{marker}/{step}/{call}", allowedHosts: ["${toolHost}"] }
---
Look the values up and add them up.
`
