import type { VersionId } from '../../core/ports/agents.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import { readPages } from '../../core/read-pages.ts'
import { ExecutionInProgress, VersionNotFound, VersionPublished } from '../../core/resource-errors.ts'
import { type AgentReference, resolveAgent } from '../resolve-agent.ts'

type Params = AgentReference & { versionId: string; executions: Pick<ExecutionStore, 'listSummaries'> }

/**
 * Deletes a draft and its code. A run that is in progress needs both, so it has to end first.
 * @throws AgentNotFound, VersionNotFound, VersionPublished, ExecutionInProgress
 */
export async function deleteDraft({ executions, versionId: id, ...reference }: Params): Promise<void> {
  const { store, organizationId } = reference
  const { id: agentId } = await resolveAgent(reference)
  const version = { organizationId, agentId, id }
  const found = await store.getVersion(version)
  if (found?.status === 'PUBLISHED') throw new VersionPublished()
  const openId = found && (await findOpenExecution(executions, version))
  if (openId) throw new ExecutionInProgress(openId)
  // Also completes a deletion that was interrupted.
  const result = await store.deleteVersion({ ...version, status: 'DRAFT' })
  if (result === 'missing') throw new VersionNotFound()
  if (result === 'other') throw new VersionPublished()
}

/** The id of an execution of the version that is in progress. */
async function findOpenExecution(
  executions: Params['executions'],
  { organizationId, agentId, id }: VersionId,
): Promise<string | null> {
  const filter = { organizationId, agentId, status: 'IN_PROGRESS', tenantId: null } as const
  const listed = readPages((page) => executions.listSummaries({ ...filter, ...page }))
  for await (const open of listed) if (open.versionId === id) return open.id
  return null
}
