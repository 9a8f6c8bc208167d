import type { Agent, Version } from '../core/agent.ts'
import type { Item } from './table.ts'

/** Schemas and settings are kept as JSON text: what the document declares comes back to the letter, in its order. */
export function versionToItem(version: Version): Item {
  return {
    ...version,
    description: version.description ?? undefined,
    model: version.model ?? undefined,
    inputSchema: JSON.stringify(version.inputSchema),
    outputSchema: JSON.stringify(version.outputSchema),
    execution: JSON.stringify(version.execution),
    tools: JSON.stringify(version.tools),
  }
}

export function versionFromItem(item: Item): Version {
  const {
    id,
    agentId,
    organizationId,
    slug,
    status,
    title,
    createdAt,
    createdBy,
    code,
    instructions,
    digest,
  } = item as Version
  return {
    id,
    agentId,
    organizationId,
    slug,
    status,
    title,
    description: (item.description as string | undefined) ?? null,
    createdAt,
    createdBy,
    inputSchema: JSON.parse(String(item.inputSchema)),
    outputSchema: JSON.parse(String(item.outputSchema)),
    model: (item.model as string | undefined) ?? null,
    tools: JSON.parse(String(item.tools ?? '[]')),
    code,
    instructions,
    execution: JSON.parse(String(item.execution)),
    digest,
  }
}

export function agentFromItem(item: Item): Agent {
  const { id, organizationId, slug, title, createdAt, createdBy, updatedAt } = item as Agent
  return {
    id,
    organizationId,
    slug,
    title,
    description: (item.description as string | undefined) ?? null,
    createdAt,
    createdBy,
    updatedAt,
    inputSchema: JSON.parse(String(item.inputSchema)),
    outputSchema: JSON.parse(String(item.outputSchema)),
    current: item.current ? versionFromItem(item.current as Item) : null,
    draftVersionId: (item.draftVersionId as string | undefined) ?? null,
  }
}
