import type { Command } from 'commander'
import { toVersionRecord } from '../../lib/api/mappers/to-agent-record.ts'
import type { Agent, Version } from '../../lib/core/agent.ts'
import { findAgent, readAllPages, withOrganization } from '../find.ts'
import { formatExamples, relativeTime, textTable } from '../format.ts'
import { orgOption } from '../options.ts'
import { toAction } from '../output.ts'

export function addVersionsCommand(program: Command): void {
  program
    .command('versions')
    .description("List an agent's versions including drafts, newest first.")
    .argument('<slug>', "the agent's slug or ID")
    .addOption(orgOption())
    .addHelpText('after', formatExamples('versions redact-pii'))
    .action(
      toAction((options, [idOrSlug = '']) =>
        withOrganization(options, async (stores, organization) => {
          const agent = await findAgent({ stores, organization, idOrSlug, options })
          const ids = { organizationId: organization.id, agentId: agent.id }
          const versions = await readAllPages((page) => stores.agents.listVersions({ ...ids, ...page }))
          const rows = versions.map((version) => [
            version.id,
            describeStatus(version, agent),
            relativeTime(version.createdAt),
            version.title,
            version.message ?? '-',
          ])
          return {
            json: versions.map((version) => toVersionRecord(version, agent)),
            text: textTable(['VERSION', 'STATUS', 'CREATED', 'TITLE', 'MESSAGE'], rows),
          }
        }),
      ),
    )
}

/** An agent has at most one draft: a later draft or a published version supersedes it. */
function describeStatus({ id, status }: Version, { current, draftVersionId, retired }: Agent): string {
  if (retired[id] !== undefined) return 'retired'
  if (status === 'DRAFT') return id === draftVersionId ? 'draft' : 'superseded draft'
  return id === current?.id ? 'current' : 'published'
}
