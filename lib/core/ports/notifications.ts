import type { Delivery, Subject, Webhook, WebhookSecret } from '../notification.ts'
import type { OwnedId, Page, PageRequest } from './system.ts'

/** The webhooks of organizations. Their secrets are apart: few functions can read those. */
export interface WebhookStore {
  /** All webhooks of the organization, oldest first; there are at most `MAX_WEBHOOKS`. */
  list(params: { organizationId: string }): Promise<Webhook[]>
  get(params: OwnedId): Promise<Webhook | null>
  /** False if the organization has `MAX_WEBHOOKS`. */
  create(params: { webhook: Webhook }): Promise<boolean>
  /** Changes these fields; null if there is no such webhook. */
  update(
    params: OwnedId & { changes: Partial<Omit<Webhook, 'id' | 'organizationId' | 'createdAt'>> },
  ): Promise<Webhook | null>
  /** With its secrets; false if there is no such webhook. */
  delete(params: OwnedId): Promise<boolean>
  /** Newest first. Without any: it has none. `id`: also `DEFAULT_WEBHOOK`. */
  getSecrets(params: OwnedId): Promise<WebhookSecret[]>
  /** The secrets of `DEFAULT_WEBHOOK`, where the functions that run agents may read them. */
  getSigningSecrets(params: { organizationId: string }): Promise<WebhookSecret[]>
  /** False if the newest one is no longer `replaces`; null: there is none. */
  putSecrets(params: OwnedId & { secrets: WebhookSecret[]; replaces: WebhookSecret | null }): Promise<boolean>
  /** Whether there is a secret of `DEFAULT_WEBHOOK`, which the caller need not be able to read. */
  hasDefaultSecret(params: { organizationId: string }): Promise<boolean>
  /** Whether `getSigningSecrets` has one: also not if the default secret was last rotated by an older version. */
  hasSigningSecret(params: { organizationId: string }): Promise<boolean>
}

export type DeliveryId = { subject: Subject; revision: number; destinationId: string }

/** Events on their way to destinations. They belong to their subjects, and are deleted with them. */
export interface DeliveryStore {
  get(params: DeliveryId): Promise<Delivery | null>
  /** Deliveries of all events of a subject. */
  listOf(subject: Subject): Promise<Delivery[]>
  /**
   * Stores the result of an attempt. The timers list a pending delivery from `dueAt` on (milliseconds since the epoch).
   * `attempts`: those of the stored one, 0 for a new one. False if the delivery has changed or was deleted.
   */
  put(params: { delivery: Delivery; attempts: number; dueAt: number | null }): Promise<boolean>
  /** Removes a delivery whose subject was deleted before it was stored. */
  delete(params: DeliveryId): Promise<void>
  /** Removes all deliveries of a subject that was deleted. */
  deleteOf(subject: Subject): Promise<void>
  /** Deliveries to a webhook, newest first. */
  list(params: { organizationId: string; destinationId: string } & PageRequest): Promise<Page<Delivery>>
  /** All events of this subject, which has ended, have deliveries. */
  setHandled(subject: Subject): Promise<void>
  /** The ids of those subjects that are handled. */
  findHandled(params: { subjects: Subject[] }): Promise<Set<string>>
  /**
   * Subjects that have ended and were entered into the outbox from `from` on and before `before` (milliseconds since
   * the epoch), page by page, handled or not. Those before `until` have been read then.
   */
  readOutbox(params: {
    from: number
    before: number
  }): AsyncGenerator<{ entries: OutboxEntry[]; until: number }>
  /** Everything entered before is handled. 0 at the beginning. */
  getPosition(): Promise<number>
  /** Moves it forward. */
  setPosition(params: { position: number }): Promise<void>
}

/** `at`: when the subject was entered, in milliseconds since the epoch. */
export type OutboxEntry = { subject: Subject; organizationId: string; at: number }
