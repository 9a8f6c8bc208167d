import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deleteDraft } from '../lib/agents/lifecycle/delete-draft.ts'
import { publishAgent } from '../lib/agents/lifecycle/publish-agent.ts'
import type { LoadedAgent } from '../lib/agents/load-folder.ts'
import type { Version } from '../lib/core/agent.ts'
import { ServiceError } from '../lib/core/errors.ts'
import type { Stores } from '../lib/dynamodb/open-stores.ts'
import { system } from '../lib/system.ts'
import { dataFolder, readState } from '../local/data-folder.ts'
import { operatorId } from '../local/development.ts'

/** Publishes a draft, and deletes the one that `dev` published before: drafts of other users stay. */
export async function replaceDraft(
  { agents, executions }: Pick<Stores, 'agents' | 'executions'>,
  organizationId: string,
  agent: LoadedAgent,
): Promise<{ version: Version; isNew: boolean }> {
  const createdBy = operatorId()
  const params = { store: agents, system, organizationId, createdBy, agent, draft: true }
  const { version, isNew } = await publishAgent(params)
  const { id, agentId } = version
  // By agent. Empty if the file is missing or invalid: then the last draft stays.
  const file = join(dataFolder(), 'dev-drafts.json')
  const drafts = await readState<string>(file)
  const previous = drafts[agentId]
  if (previous === id) return { version, isNew }
  const { [agentId]: _, ...others } = drafts
  await mkdir(dataFolder(), { recursive: true, mode: 0o700 })
  await writeFile(file, JSON.stringify(isNew ? { ...others, [agentId]: id } : others))
  if (previous !== undefined) {
    const reference = { store: agents, organizationId, idOrSlug: agentId }
    // It stays if it was promoted or has runs, and may be deleted already.
    await deleteDraft({ ...reference, executions, versionId: previous }).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || error.status >= 500) throw error
    })
  }
  return { version, isNew }
}
