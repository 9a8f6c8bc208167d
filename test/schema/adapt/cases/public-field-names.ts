/** Names of fields in public APIs, a random selection from the descriptions in npm packages. */
export const PUBLIC_FIELD_NAMES: Record<string, string> = {
  'GitHub (npm @octokit/openapi)': `
    MACOS about_url actions_inbound administration affected_range allow_forking allow_update_branch
    annotations_count answer answer_html_url app_id approver armored_public_key artifact_id
    artifact_metadata artifact_size_in_bytes artifacts assets assets_url assigned_to assigning_team
    async attestations auth_type author authorized_actors_only authorized_dismissal_actors_only
    aws_region base_role base_tree before_id billing_cycle billing_email blocked_by blocking_issue
    blocking_issue_id branch_policies budget_product_sku budget_type bugs build
    can_approve_pull_request_reviews change_status changes check_run checks classification client_id
    closed_by code code_scanning_delegated_alert_dismissal column_id columns_url commit commit_oid
    commit_search_url commit_signing_keys configuration_file_path contact_email container_metadata
    content_reports_enabled copilot_requests cpus create_pull_request created_at curated
    current_user_can_approve cwe_id dataLicense database_commit_sha default_setting deleted
    deliveries_url dependabot_security_updates deployment_url description details discussion_body_url
    disk_usage dismissal_request dismissal_restriction display_login dsseEnvelope emojis_url
    enforced_repositories enforcement entries environment_url errors evaluation_result events_url
    failed_reason failed_step file file_size filled_seats first_patched_version fix_reason fork
    full_name group_id grouping_strategy guid has_discussions has_mx_records_present has_next
    has_pull_requests head_commit health_percentage hireable hook_id hooks host https_error
    identity_mapping_name image immutable include_claim_keys inputs installation_command instances_url
    integration_id interaction_limits invitation_source invitation_teams_url invite_link inviter
    is_alphanumeric is_verified issue_events_url issue_field_id issue_search_url issues_url job jobs
    keywords last_active_on last_used layout license_template location locations_url logo_url maintain
    maintainer max_entries_to_build max_entries_to_merge media_type
    members_allowed_repository_creation_type members_can_create_private_pages
    members_can_create_public_repositories members_can_invite_outside_collaborators members_count
    merge_commit_title merge_method merge_type mergeable most_recent_instance namespace
    network_settings_ids npm_user old_issue open_count operating_system operator
    organization_announcement_banners organization_repositories_url organization_slugs
    organization_teams_url organization_user_blocking owned_private_repos owner_url package_html_url
    package_url parameters parent_issue parent_issue_id parent_issue_repo pat_request_ids path
    pattern_id patterns_allowed payload pending_cancellation_date pending_operation_disabled_reason
    percentage permissions_added pinned_at policy_state preview_url previous_column_name private_gists
    private_repos product project_choices project_column projects_v2_status_update property
    public_ip_enabled publish_url pull_request_creation_policy pull_requests query_language raw readme
    ref_name registry_url release_id released repos_count repository_advisory_url repository_count
    repository_custom_properties repository_discussions_category repository_ruleset requested_teams
    require_approval_for_fork_pr_workflows require_last_push_approval
    required_conversation_resolution_level rerequestable responds_to_https retention_expires_at
    rule_evaluations rules_count runner_group_name runner_label score
    secret_scanning_delegated_alert_dismissal security_alerts_threshold selected_repositories_url sha256
    side source_import spdx_id ssh_key_fingerprints ssh_url strict_required_status_checks_policy
    students_are_repo_admins sub_issue subject subject_id subscribed supplier target_ref
    template_repository token_id token_last_eight total transient_environment tree trust_domain
    twitter_username two_factor_authentication usageItems use_default user_collaborators vendor
    wait_timer wildcard_domains workflow_url
  `,
  'Square (npm square)': `
    abortSignal accessToken adjustDecrementActivityDetails administrativeDistrictLevel2 aggType
    alignmentTime allowTipping allowUnrecognizedEnumValues allowUnrecognizedUnionMembers
    allowedObjectTypes availabilities availabilityPeriodIds bookingEnabled booleanValue
    breadcrumbsPrefix businessBookingProfile cache cadence cashDrawerShiftEvents cashDrawerShifts
    categoryData channel channelId clientSecret codeVerifier components computedAmountMoney coordinates
    country counts creationSource curbsideDetails customAttribute customReasonId customerFilter
    customerInitiated dayOfWeek defaultTimezone detail deviceCode deviceCodeId deviceId
    dietaryPreferences dimension discountMoney discountUid dueDate ecomImageUris employeeWages
    enabledLocationIds endedAt exactQuery excludeStrategy familyName filters fingerprint folders
    fromLocationId grossAmountMoney imageId includeDeletedObjects itemOptionValueId items jobId label
    limit limits locationFilter locationIds logging loyaltyAccount managedDelivery
    matchScheduledShiftsBy maxAllowedSelections modifierListsToEnable networkConnectionType
    notificationUrl number orderHistory orderTemplateId pauseReason paymentSourceToken phases
    posBackgroundUrl preparedAt pricing printOnly productSetData productTypes program
    publishedShiftDetails purchaseOrderId qrCodeOptions quantityMax reasonIds referenceId referenceType
    refreshToken reminders response responseType resumeChangeTiming resumeEffectiveDate revocation
    rewardIds rewards rule saleOrServiceDate segments selection selectionType sellerVisibility sentAt
    shipmentDetails specifier ssid startAtRange statusChangedAt subscriptionEventType subscriptionPlans
    subtotalMoney supportSellerLevelWrites taxIds teamMemberBookingProfiles tenders tipSettings tipping
    totalShippingMoney totalTaxMoney transferOrderId treatmentType typeAutomaticSavingsDetails
    typeDepositFeeDetails typeHoldAdjustmentDetails typeRefundDetails validUntilLocalTime versionToken
    visitData voidedAt weeklyHours
  `,
  'DocuSign (npm docusign-esign)': `
    advancedCorrectMetadata ageVerifyResult agents allowApiSendingOnBehalfOfOthersMetadata
    allowEHankoStamps allowEnvelopeCustodyTransferMetadata allowManageJointAgreementsMetadata
    allowManageSharing allowOcrOfEnvelopeDocuments allowOnlyStandaloneWebForms
    allowOrganizationDomainUserManagement allowRecipientLanguageSelectionMetadata
    allowRecipientRecursion allowReminders allowSigningExtensionsMetadata allowSigningGroups
    allowTransactionRooms allowTransactionsWorkspaceMetadata allowViewHistory allowedAddressBookAccess
    anchor apiAccountWideAccessMetadata apiKey assignTabsToRecipientId autoMatchSpecifiedByUser
    autoNavigation bccEmailArchiveMetadata brandCompany brandId bulkRecipientRow
    canChargeAccountMetadata canManageAdmins canManageUsers canSelfBrandSendMetadata cloudReady
    commentEmailShowMessageTextMetadata conditionalParentLabel connectDebugLog contactUri
    copyRequestEmail currentPassword dataFieldSizeEnabled dateFormatMetadata dateStampProperties
    defaultValue disableUserSharing displaySettings distributorPassword documentName downgradePlanName
    downgradeRequestInformation draftEnvelopeRetention effectiveCustomDateFormat emailDomain
    emailNotifications emailTemplateVersion enableAdmHealthcareMetadata enableAdminMessage
    enableAdvancedSearch enableDocumentTemplateLibrary enableIDFxIntuitKBA
    enableRecipientMayProvidePhoneNumber enableReviewerEventsSetting enableSignOnPaperMetadata
    enableSignerAttachmentsMetadata enableTicketsMetaData endTimetoken enforceTlsEmailsMetadata
    eodTransactionName expiredRate expiredTs font frameAncestors groupEmail hasDocusignCertificate
    hasWavFile idChecksAttempted imageBytes inPersonIDCheckQuestion includeCertificateOfCompletion
    includeSigsBeforeComplete initialSendTs isDocGenDocument isEnabled isFlattened isRequired
    jurisdiction lastProvider listTabsEnabled maxGridRows maximumReminderCount mimeType modifiedUser
    nrdsId numberOfRecipients numberOfSigners ofacResult offlineAttributes onSessionTimeout
    onViewingComplete optInMobileSigningV02Metadata optOutNewPlatformSealPlatformMetadata
    overrideTimezoneKey partner passwordStrengthType paymentGateway powerFormRoleMetadata
    predefinedValidation promoCode propertyName purchaseOrderOrPromAllowed recipientCompleteCount runUri
    salesforceApiVersion scheduledSending senderEmail service showAdvancedOptions
    signatureProviderRequiredOptions signerIdType signerMustAcknowledge signerName
    signingSessionTimeoutMetadata stampTypeMetadata statusDateTime supplementalDocumentsMustRead
    supportPlanFee suppressCertificateEnforcement tabGroups templateLocked textMetadata
    useConsumerDisclosure userAuthorization usersCount watermarkText withdrawPhone withdrawState
    workflowIdMetadata wurflMinAllowableScreenSizeMetadata xFrameOptions
  `,
  'AWS (npm @aws-sdk/client-*)': `
    ADD ARCHIVED ARCHIVING AVAILABLE AccountIdsToAdd ActivationCode ActiveNonInvocable AddReplicaRegions
    AggregatorType Aggregators Alarms AllowedMethods ApproveAfterDays ApproximateReceiveCount
    AssociationDescription AttachmentsInformation Attempt AttributeType AttributeValueList Auto BETWEEN
    BUFFERED BaselineIdentities BatchSize COSINE CRC32 ChangeCalendar ChangeRequestName CheckName
    ClientRequestToken CloudFormation ConformancePackTemplate ContentBasedDeduplication ContextFailed
    CurrentAction DeduplicationScope DefaultBaseline Deleted DestinationIfUnmodifiedSince
    DestinationStatus DistanceFunction DocumentDescription EC2RequestLimitExceeded
    EnableKinesisStreamingConfiguration EndTime Error ErrorType ExecutionTimeout
    ExpiredObjectDeleteMarker ExportArn ExportViewType FailureMessage FunctionErrorPermissionDenied
    FunctionUrl FunctionVersion GlobalTableDescription INPROGRESS IfModifiedSince InstalledCount
    InstalledOther InstanceInformationFilterList InsufficientRolePermissions InvalidZipFileException
    InvocationId IpAddress IsPublic ItemCount KbNumber LambdaFunctionConfigurations LastDecreaseDateTime
    LastEvaluatedGlobalTableName LastEvaluatedTableName LastExecutedAfter LastStatus
    LastSuccessfulExecutionDate LastUpdateStatusReason LoggingEnabled MICROSECOND Marker
    MaximumConcurrency MessageBody Mode NextExecutionTime NextPartNumberMarker NonCompliantSummary
    NotApplicableCount OFF OpsItemId OrganizationId OutputSchemaVersion ParameterFilters PassThrough
    PatchSeverity PlannedEndTime Platform ProgressCounters ProvisionedThroughputOverride
    QueueConfigurations Reference RemovedLabels ReplaceKeyPrefixWith RequestLimitExceeded
    ResolvedImageUri Resource ResponseStartDateTime ReturnItemCollectionMetrics SHA256 ScheduleTimezone
    SchemaRegistryConfig Score SingleLocalZone Size SnapshotDownloadUrl SourceResult SseAlgorithm
    StartedAfter StatementId TERMINATING TaskExecutionId TimeRangeLowerBound TimeToLiveSpecification
    TraceHeader TumblingWindowInSeconds Type UPDATING USE Ubuntu Unknown UnprocessedItems
    UnreservedConcurrentExecutions ValidationErrors VcpuLimitExceeded WarningMessage WithDecryption
    XXHASH64 asc attributes java11al2023 reason ruby25
  `,
}
