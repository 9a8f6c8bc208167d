import { OPTIONAL, type Settings, STACK_FLAG, STACK_TEXT } from './setting.ts'

/** Where the service is reached, and who signs in to it. */
export const ACCESS = {
  domainName: {
    ...STACK_TEXT,
    pattern: /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,}$/,
    allowed: 'a host name, together with `certificateArn`',
    description: 'Custom domain of the API. Point its DNS record to the stack output `DomainTarget`.',
  },
  certificateArn: {
    ...STACK_TEXT,
    pattern: /^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/,
    mayBeAttribute: true,
    allowed: 'the ARN of an ACM certificate in the same region, together with `domainName`',
    description: 'Certificate of the custom domain.',
  },
  domainBasePath: {
    ...STACK_TEXT,
    pattern: /^(?=.{1,200}$)[\w.-]+(\/[\w.-]+)*$/,
    allowed: 'segments of letters, digits, `.`, `_` and `-`, separated by `/`, together with `domainName`',
    description:
      'Base path on the custom domain, such as `agents/v1`: URLs start with `https://{domainName}/agents/v1/v1`.',
  },
  publicUrl: {
    ...OPTIONAL,
    type: 'publicUrl',
    // Agents give it to others, and events link to their executions.
    readBy: ['agents', 'webhooks', 'resource-metadata'],
    description:
      'The URL of the API for other systems, as in the stack output `BaseUrl`. `context.callbackUrl` needs it.',
    local: {
      shownDefault: 'that of `HOST` and `PORT`',
      description: 'The URL of the service for other systems.',
    },
  },
  oidcIssuer: {
    ...OPTIONAL,
    type: 'issuer',
    readBy: ['authorizer', 'endpoints'],
    description:
      'The [identity provider](identity.md) whose JSON Web Tokens are accepted, together with `oidcAudience` and `oidcMapping`.',
  },
  oidcAudience: {
    ...OPTIONAL,
    type: 'audiences',
    readBy: ['authorizer', 'sign-in'],
    description: 'The audiences of these tokens. The console asks for tokens of the first one.',
  },
  oidcMapping: {
    ...OPTIONAL,
    type: 'mapping',
    readBy: ['authorizer', 'resource-metadata'],
    description:
      'The organization, tenant, scopes and agents of a token by its [claims](identity.md#mapping).',
  },
  oidcClientId: {
    ...OPTIONAL,
    type: 'clientId',
    readBy: ['sign-in'],
    description:
      'The public client as which the [console](console.md) signs in. If unset, it asks for an API token.',
  },
  oidcScope: {
    ...OPTIONAL,
    type: 'scopes',
    shownDefault:
      '`openid profile email`, and those that [the mapping needs](identity.md#sign-in-to-the-console)',
    readBy: ['sign-in'],
    description: 'The scopes that the console asks for.',
  },
  oidcTokenOrigin: {
    ...OPTIONAL,
    type: 'origin',
    readBy: ['sign-in'],
    description: "The origin of the provider's token endpoint, if it is not the issuer's.",
  },
  disableExecuteApiEndpoint: {
    where: 'stack',
    type: 'flag',
    default: null,
    description: 'Turns off the endpoint `execute-api`. If unset, it is off with a custom domain.',
  },
  webAcl: {
    ...STACK_FLAG,
    description:
      "Adds AWS WAF: AWS's common rule set (bodies are only counted), and at most 30,000 requests per IP address in 5 minutes.",
  },
} as const satisfies Settings
