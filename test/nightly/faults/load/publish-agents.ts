import { fileURLToPath } from 'node:url'
import { parseDocument } from '../../../../lib/agents/document/check-document.ts'
import { publishAgent } from '../../../../lib/agents/lifecycle/publish-agent.ts'
import { type LoadedAgent, loadFolder } from '../../../../lib/agents/load-folder.ts'
import { agentStore } from '../../../../lib/dynamodb/agent-store.ts'
import type { Table } from '../../../../lib/dynamodb/table/table.ts'
import { system } from '../../../../lib/system.ts'
import { DELEGATE, type ModelAndTools } from './model-and-tools.ts'
import { DELEGATING_AGENT, MODEL_AGENT } from './planned-run.ts'

const FIXTURES = new URL('../../../fixtures/agents/', import.meta.url)

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
export const loadModelAgent = (models: ModelAndTools): Agent =>
  toAgent(MODEL_AGENT, models, [lookUp(models, 'look_up', 'values')])

/** All agents that run on the scripted model. */
export const loadModelAgents = (models: ModelAndTools): Agent[] => [
  loadModelAgent(models),
  toAgent(DELEGATING_AGENT, models, [`  - { name: ${DELEGATE}, agent: ${MODEL_AGENT} }`]),
]

function toAgent(slug: string, { model }: ModelAndTools, tools: string[]): Agent {
  const { document } = parseDocument(
    `---
title: Adding up
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
${tools.join('\n')}
---
Look the values up and add them up.
`,
    slug,
  )
  if (!document) throw new Error(`The agent ${slug} of the harness is invalid.`)
  return { document, code: null }
}

/** A tool that requests `/{kind}/…` from the server of the tools. */
const lookUp = ({ toolHost }: ModelAndTools, name: string, kind: string) => `  - name: ${name}
    description: Looks one of the ${kind} up.
    input:
      marker: { type: string, description: Identifies the run. }
      step: { type: integer, description: The number of the model response. }
      call: { type: integer, description: The number of the call in this response. }
    http: { method: GET, url: "http://${toolHost}/${kind}/{marker}/{step}/{call}", allowedHosts: ["${toolHost}"] }`
