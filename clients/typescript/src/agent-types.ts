/** The input and output types of agents by slug, as `agents types` writes them. */
export type AgentTypes<Agents> = { [Slug in keyof Agents]: { input: unknown; output: unknown } }

/** Without a map, every slug and ID is allowed, and outputs have to be checked by their reader. */
export type AnyAgents = Record<string, { input: object; output: Record<string, unknown> }>

export type SlugOf<Agents> = keyof Agents & string
