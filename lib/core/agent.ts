import type { Json, JsonObject } from './json.ts'

export type VersionStatus = 'PUBLISHED' | 'DRAFT'

/** How a version runs unless a call says otherwise. Times are seconds. */
export type ExecutionSettings = {
  useCache: boolean
  cacheTtlSeconds: number | null
  maxAgentSteps: number
  timeoutSeconds: number | null
}

/** One published document, never changed once written. Schemas stand as the document declares them. */
export type Version = {
  id: string
  agentId: string
  organizationId: string
  slug: string
  status: VersionStatus
  title: string
  description: string | null
  createdAt: string
  createdBy: string
  inputSchema: JsonObject
  outputSchema: JsonObject
  /** Model of a model agent; null where the default model runs it, and for a code agent. */
  model: string | null
  /** As the document declares them. */
  tools: Json[]
  code: boolean
  instructions: string
  execution: ExecutionSettings
  /** SHA-256 of the document and code: equal digests run alike. */
  digest: string
}

/** A published document's identity, with the version that runs by default inside it: one read is enough to run it. */
export type Agent = {
  id: string
  organizationId: string
  slug: string
  title: string
  description: string | null
  createdAt: string
  createdBy: string
  updatedAt: string
  /** Of the current version; of the draft while nothing is published. */
  inputSchema: JsonObject
  outputSchema: JsonObject
  current: Version | null
  draftVersionId: string | null
}

export type Organization = { id: string; name: string; createdAt: string }

/** An API token as it is kept: the token itself is known only to its holder. */
export type Token = {
  id: string
  hash: string
  organizationId: string
  name: string
  createdBy: string
  createdAt: string
  expiresAt: string | null
  revokedAt: string | null
}
