import * as z from 'zod'

const declaredSchema = z.record(z.string(), z.unknown())

export const agentRecord = z
  .object({
    id: z.uuid(),
    orgId: z.uuid().meta({ description: 'The organization that owns the agent.' }),
    slug: z.string().meta({ description: 'Human-readable identifier. Paths accept it instead of the ID.' }),
    title: z.string(),
    description: z.string().nullable(),
    createdBy: z.uuid(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    currentVersionId: z.uuid().nullable().meta({ description: 'Null while only a draft exists.' }),
    draftVersionId: z.uuid().nullable(),
    draftVersionStatus: z.enum(['DRAFT']).nullable(),
    inputSchema: declaredSchema,
    outputSchema: declaredSchema,
  })
  .meta({ id: 'Agent' })

export const versionRecord = z
  .object({
    id: z.uuid(),
    documentId: z.uuid().meta({ description: 'The agent of this version.' }),
    status: z.enum(['PUBLISHED', 'DRAFT']),
    title: z.string(),
    description: z.string().nullable(),
    createdBy: z.uuid(),
    createdAt: z.iso.datetime(),
    inputSchema: declaredSchema,
    outputSchema: declaredSchema,
    model: z.string().nullable(),
    execution: z.object({
      useCache: z.boolean(),
      cacheTtlSeconds: z.int().nullable(),
      maxAgentSteps: z.int(),
      timeoutSeconds: z.int().nullable(),
      maxTokens: z.int().nullable(),
      maxCostUsd: z.number().nullable(),
    }),
  })
  .meta({ id: 'Version' })

export type AgentRecord = z.infer<typeof agentRecord>
export type VersionRecord = z.infer<typeof versionRecord>
