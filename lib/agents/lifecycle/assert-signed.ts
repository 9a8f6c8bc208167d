import { ServiceError } from '../../core/errors.ts'
import type { WebhookStore } from '../../core/ports/notifications.ts'
import type { PublishableAgent } from './publish-agent.ts'

/** A remote agent could not tell who asks. @throws ServiceError `BadRequest` without a secret that signs requests */
export async function assertSigned(
  webhooks: Pick<WebhookStore, 'hasSigningSecret'>,
  organizationId: string,
  { document }: PublishableAgent,
): Promise<void> {
  if (!document.remote?.url || (await webhooks.hasSigningSecret({ organizationId }))) return
  throw new ServiceError(
    'BadRequest',
    'A remote agent needs the default webhook secret of your organization, which signs requests to its URL. POST /v1/webhooks/default/rotate creates it.',
  )
}
