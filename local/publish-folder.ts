import { existsSync } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { audited, toPublished } from '../lib/access/audit-log.ts'
import { DOCUMENT_FILE } from '../lib/core/agent.ts'
import { agentIdOf } from '../lib/core/ids.ts'
import type { AuditStore } from '../lib/core/ports/access.ts'
import type { AgentStore } from '../lib/core/ports/agents.ts'
import { AgentArchived, TrialRequired } from '../lib/core/resource-errors.ts'
import { system } from '../lib/system.ts'
import {
  type Checked,
  hashSources,
  hashToolchain,
  readChecked,
  sourcesOutside,
  writeChecked,
} from './checked-agents.ts'
import { DEVELOPMENT_ORGANIZATION, localUser, operatorId } from './development.ts'
import { type Publication, readPublications, savePublications } from './publications.ts'

/** The folder of the agents, in the working directory. */
export const AGENTS = 'agents'

/** `problems`: the folder is not a valid agent, or the agent is archived, and nothing was published. */
export type PublishResult = { slug: string; isNew: boolean } | Invalid

type Stores = { agents: AgentStore; audit: AuditStore }

/**
 * Publishes every agent below a folder that differs from what was last published from it, by this or by a command, as a
 * draft or not: a rollback survives a restart, and a draft stays one. What is published is in the audit log. An agent
 * whose files are unchanged since the last start is not checked; if all are unchanged, the bundler is not loaded.
 * @param stateFile stores what was published
 * @param cache a folder with agents that were checked for any data folder, for a new one
 */
export async function publishFolder(
  stores: Stores,
  folder: string,
  stateFile: string,
  cache: string | null = null,
): Promise<PublishResult[]> {
  const toolchain = hashToolchain()
  const entries = existsSync(folder) ? await readdir(folder) : []
  const paths = entries
    .map((name) => join(folder, name))
    .filter((path) => existsSync(join(path, DOCUMENT_FILE)))
  const folders = await Promise.all(paths.map((path) => realpath(path)))
  const state = await readPublications(stateFile)
  const results = await Promise.all(
    folders.map(
      async (path) =>
        (await findUnchanged(stores.agents, path, state[path], toolchain)) ??
        publish(stores, path, state[path], { toolchain, cache }),
    ),
  )
  if (results.some((result) => 'problems' in result || result.isBundled)) {
    const { stopBundler } = await import('../lib/agents/code/bundle-code.ts')
    await stopBundler()
  }
  if (results.some((result) => 'problems' in result || result.isChecked)) {
    const changed = results.flatMap((result, index): [string, Publication][] =>
      'problems' in result ? [] : [[folders[index] ?? '', result.publication]],
    )
    await savePublications(stateFile, changed)
  }
  return results.map((result) =>
    'problems' in result ? result : { slug: result.publication.slug, isNew: result.isNew },
  )
}

type Published = { publication: Publication; isNew: boolean; isChecked: boolean; isBundled?: boolean }
type Invalid = { folder: string; problems: string[] }

/** Null when the folder has to be checked. */
async function findUnchanged(
  store: AgentStore,
  folder: string,
  publication: Publication | undefined,
  toolchain: Promise<string>,
): Promise<Published | null> {
  if (!publication?.sourceHash) return null
  if ((await hashSources(folder, publication.sources ?? [], toolchain)) !== publication.sourceHash)
    return null
  const agent = await getAgent(store, publication.slug)
  return agent ? { publication, isNew: false, isChecked: false } : null
}

const organizationId = DEVELOPMENT_ORGANIZATION.id

const getAgent = (store: AgentStore, slug: string) =>
  store.get({ organizationId, id: agentIdOf(organizationId, slug) })

async function publish(
  { agents: store, audit }: Stores,
  folder: string,
  last: Publication | undefined,
  { toolchain, cache }: { toolchain: Promise<string>; cache: string | null },
): Promise<Published | Invalid> {
  const known = cache && (await readChecked(cache, folder))
  const isKnown = known && (await hashSources(folder, known.sources, toolchain)) === known.sourceHash
  const checked = isKnown ? known : await check(folder, toolchain)
  if ('problems' in checked) return checked
  if (cache && !isKnown) await writeChecked(cache, folder, checked)
  const { agent, sources, sourceHash } = checked
  const { slug } = agent.document
  const isBundled = !isKnown
  const { digestOf, publishAgent } = await import('../lib/agents/lifecycle/publish-agent.ts')
  const publication = { slug, digest: digestOf(agent), sources, sourceHash }
  const published = await getAgent(store, slug)
  if (published && [last?.digest, published.current?.digest].includes(publication.digest))
    return { publication, isNew: false, isChecked: true, isBundled }
  const change = {
    ...{ ...localUser(), organizationId, action: 'agent.publish' as const },
    target: { kind: 'agent' as const, id: agentIdOf(organizationId, slug) },
    changes: { slug, draft: false },
  }
  try {
    const { isNew } = await audited({ audit, system }, change, async (note) => {
      const params = { store, system, organizationId, createdBy: operatorId() }
      const result = await publishAgent({ ...params, agent, draft: false })
      note(toPublished(result))
      return result
    })
    return { publication, isNew, isChecked: true, isBundled }
  } catch (error) {
    if (error instanceof AgentArchived)
      return { folder, problems: [`${folder}: the agent ${slug} is archived`] }
    if (error instanceof TrialRequired)
      return { folder, problems: [`${folder}: ${explainTrial(folder, slug)}`] }
    throw error
  }
}

async function check(folder: string, toolchain: Promise<string>): Promise<Checked | Invalid> {
  const { formatProblem } = await import('../lib/agents/load-folder.ts')
  const { loadAgent } = await import('./load-agent.ts')
  const { agent, problems } = await loadAgent(folder, process.env)
  if (!agent) return { folder, problems: problems.map(formatProblem) }
  const sources = sourcesOutside(folder, agent.sources)
  return { agent, sources, sourceHash: await hashSources(folder, sources, toolchain) }
}

const explainTrial = (folder: string, slug: string): string =>
  [
    `the current version of ${slug} requires a trial, so it stays current. To replace it:`,
    `  npx agent-execution publish ${folder} --draft`,
    `  npx agent-execution trial ${slug} --max-cost <dollars>`,
    `  npx agent-execution promote ${slug} --trial <id>`,
  ].join('\n')
