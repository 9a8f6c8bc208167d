import { readdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { publishAgent } from '../lib/agents/lifecycle/publish-agent.ts'
import { type FolderProblem, type LoadedAgent, loadFolder } from '../lib/agents/load-folder.ts'
import type { Version } from '../lib/core/agent.ts'
import { agentIdOf } from '../lib/core/ids.ts'
import { openStores, type Stores } from '../lib/dynamodb/open-stores.ts'
import { openTable } from '../lib/dynamodb/table/table.ts'
import { DYNAMODB_ENDPOINT, TABLE_NAME } from '../lib/environment.ts'
import { system } from '../lib/system.ts'
import { dataFolder } from '../local/data-folder.ts'
import { DEVELOPMENT_ORGANIZATION, ensureDevelopmentSecret, operatorId } from '../local/development.ts'
import { LOCAL_TABLE, provisionTable } from '../local/emulators/provision.ts'
import { startEmbeddedDynamoDB } from '../local/emulators/start-emulators.ts'

/** A table in memory, on which an agent can run without being published. `close` leaves nothing behind. */
export type Workbench = { stores: Stores; version: Version; close: () => Promise<void> }

/** An agent that the tested one needs has problems. */
export class InvalidCallee extends Error {
  readonly slug: string
  readonly problems: FolderProblem[]

  constructor(slug: string, problems: FolderProblem[]) {
    super(`The agent ${slug}, which this one needs, has problems.`)
    this.slug = slug
    this.problems = problems
  }
}

/** Scorers by their slugs. `find`: in a service, the one that no folder has; null if it has none either. */
export type NeededScorers = {
  slugs: string[]
  find: (slug: string) => Promise<{ version: Version; code: string | null } | null>
}

const NO_SCORERS: NeededScorers = { slugs: [], find: async () => null }

/**
 * Opens a workbench with an agent, its scorers, and the agents that they call, as tools or by `context.run`. These are
 * found by their slugs in the folders next to its own.
 * @throws InvalidCallee
 */
export async function openWorkbench(
  folder: string,
  agent: LoadedAgent,
  scorers = NO_SCORERS,
): Promise<Workbench> {
  const { endpoint, stop } = await startEmbeddedDynamoDB(null)
  try {
    await provisionTable(endpoint, LOCAL_TABLE)
    const stores = openStores(openTable({ [TABLE_NAME]: LOCAL_TABLE, [DYNAMODB_ENDPOINT]: endpoint }))
    return { stores, version: await publishAll(stores, folder, agent, scorers), close: stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function publishAll(
  { agents, webhooks }: Stores,
  folder: string,
  agent: LoadedAgent,
  scorers: NeededScorers,
): Promise<Version> {
  const published = new Set<string>()
  const publish = async (loaded: LoadedAgent): Promise<Version> => {
    const { document } = loaded
    published.add(document.slug)
    if (document.remote) await ensureDevelopmentSecret(webhooks, dataFolder())
    for (const slug of [...document.tools.flatMap((tool) => tool.agent ?? []), ...runBy(loaded)]) {
      const callee = published.has(slug) ? null : await loadSibling(folder, slug)
      if (callee) await publish(callee)
    }
    const { version } = await publishAgent({
      store: agents,
      system,
      organizationId: DEVELOPMENT_ORGANIZATION.id,
      createdBy: operatorId(),
      agent: loaded,
      draft: false,
    })
    return version
  }
  const version = await publish(agent)
  for (const slug of scorers.slugs.filter((each) => !published.has(each))) {
    const sibling = await loadSibling(folder, slug)
    if (sibling) await publish(sibling)
    const found = sibling ? null : await scorers.find(slug)
    const organizationId = DEVELOPMENT_ORGANIZATION.id
    const ids = { organizationId, agentId: agentIdOf(organizationId, slug) }
    if (found) await agents.publish({ ...found, version: { ...found.version, ...ids } })
  }
  return version
}

/** The agents that code runs, as far as it names them: `context.run('translate', 'translate-text', …)`. */
const runBy = ({ code }: LoadedAgent): string[] =>
  [...(code ?? '').matchAll(/\brun\([^()]+?,\s*["'`]([a-z0-9-]+)["'`]/g)].flatMap(([, slug]) => slug ?? [])

/** Null if there is none: the tool reports that when the agent runs. */
async function loadSibling(folder: string, slug: string): Promise<LoadedAgent | null> {
  const parent = dirname(resolve(folder))
  const entries = await readdir(parent, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  // A folder usually has the name of the slug.
  for (const name of names.sort((a, b) => Number(b === slug) - Number(a === slug))) {
    const { agent, problems } = await loadFolder(join(parent, name))
    if (agent?.document.slug === slug) return agent
    if (name === slug && !agent) throw new InvalidCallee(slug, problems)
  }
  return null
}
