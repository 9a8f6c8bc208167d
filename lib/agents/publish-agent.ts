import type { ModelSettings, Version } from '../core/agent.ts'
import { agentIdOf } from '../core/ids.ts'
import type { Json } from '../core/json.ts'
import type { AgentStore, System } from '../core/ports.ts'
import type { AgentDocument } from './document.ts'
import type { LoadedAgent } from './load-folder.ts'
import { forgetCurrentVersion } from './version-cache.ts'

type Params = {
  store: AgentStore
  system: System
  organizationId: string
  createdBy: string
  agent: Omit<LoadedAgent, 'sources'>
  draft: boolean
}

/** Stores a new version of the agent, as its current version or as its draft. */
export async function publishAgent(params: Params): Promise<Version> {
  const { store, system, organizationId, createdBy, draft } = params
  const { document, code, digest } = params.agent
  const version: Version = {
    id: system.newId(),
    agentId: agentIdOf(organizationId, document.slug),
    organizationId,
    slug: document.slug,
    status: draft ? 'DRAFT' : 'PUBLISHED',
    title: document.title,
    description: document.description,
    createdAt: new Date(system.now()).toISOString(),
    createdBy,
    inputSchema: document.input,
    outputSchema: document.output,
    ...toModel(document.model),
    tools: document.tools as unknown as Json[],
    code: document.code,
    env: document.env,
    instructions: document.instructions,
    execution: document.execution,
    digest,
  }
  await store.publish({ version, code })
  forgetCurrentVersion(version.agentId)
  return version
}

/** The settings are absent if the document has none. */
function toModel(model: AgentDocument['model']): Pick<Version, 'model' | 'modelSettings'> {
  if (model === null || typeof model === 'string') return { model }
  const { name = null, ...settings } = model
  return {
    model: name,
    ...(Object.keys(settings).length > 0 && { modelSettings: settings as ModelSettings }),
  }
}
