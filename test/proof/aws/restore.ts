import { setTimeout as sleep } from 'node:timers/promises'
import {
  CreateBackupCommand,
  DeleteBackupCommand,
  DeleteTableCommand,
  DescribeBackupCommand,
  ListBackupsCommand,
  ResourceNotFoundException,
  RestoreTableFromBackupCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import type { Findings } from '../run-proof.ts'
import type { Account } from './account.ts'

type Client = Pick<Account, 'dynamodb'>

const MAX_RESTORE_SECONDS = 1_200
const POLL_MS = 2_000

/** The names follow from that of the stack, so that whatever kills the proof, they are found. */
const restoredName = (stack: string) => `${stack}-proof-restored`
const backupName = (stack: string) => `${stack}-proof`

/**
 * Backs the table of a stack up and restores it into another one, which is deleted again.
 * @param run an execution that was stored before; null: the table has none
 */
export async function checkRestore(
  { dynamodb }: Client,
  params: { stack: string; tableName: string; run: { organizationId: string; id: string } | null },
): Promise<Findings> {
  const { stack, tableName: TableName, run } = params
  const begunAt = performance.now()
  const { BackupDetails } = await dynamodb.send(
    new CreateBackupCommand({ TableName, BackupName: backupName(stack) }),
  )
  const BackupArn = BackupDetails?.BackupArn
  const isAvailable = async () => {
    const { BackupDescription } = await dynamodb.send(new DescribeBackupCommand({ BackupArn }))
    return BackupDescription?.BackupDetails?.BackupStatus === 'AVAILABLE'
  }
  while (!(await isAvailable())) await sleep(POLL_MS)
  const TargetTableName = restoredName(stack)
  await dynamodb.send(new RestoreTableFromBackupCommand({ BackupArn, TargetTableName }))
  await waitUntilTableExists(
    { client: dynamodb, maxWaitTime: MAX_RESTORE_SECONDS },
    { TableName: TargetTableName },
  )
  const seconds = Math.round((performance.now() - begunAt) / 1000)
  const found = run && (await executionStore(openTable({ TABLE_NAME: TargetTableName })).get(run))
  return {
    problems: run && !found ? [`The restored table has no execution ${run.id}.`] : [],
    figures: { 'backup and restore (s)': seconds },
  }
}

/** Deletes what a restore has left, if anything. */
export async function removeRestored({ dynamodb }: Client, stack: string): Promise<void> {
  const deleting = dynamodb.send(new DeleteTableCommand({ TableName: restoredName(stack) }))
  await deleting.catch((error: unknown) => {
    if (!(error instanceof ResourceNotFoundException)) throw error
  })
  const { BackupSummaries = [] } = await dynamodb.send(new ListBackupsCommand({}))
  for (const { BackupName, BackupArn } of BackupSummaries)
    if (BackupName === backupName(stack)) await dynamodb.send(new DeleteBackupCommand({ BackupArn }))
}
